// y = A x + b between arrays, with numbers A and b: one slot per y, whose terms are all of x. Messages are those of a
// weighted sum (sum.h), exact; the matrix is stored row by row.
//
//  g.factor("linear", {column(x), y}, {{"A", {1.0, 2.0, 0.0, 3.0}}, {"b", {0.5, -0.5}}});      // two x, two y
#pragma once

#include "factors/arithmetic/affine.h"
#include "factors/arithmetic/sum.h"

namespace dma {

class Kind;

struct Linear {
  struct Parameters {
    std::span<const double> row;
    double b;
    static Parameters bind(const ParameterRow& p) { return {p.terms(0), p.number(1)}; }
  };

  // `parameters` are the numbers of the row of A, then b.
  static double value(std::span<const double> x, std::span<const double> parameters) {
    return Sum::value(x, parameters.first(x.size())) + parameters.back();
  }

  static Gaussian to_y(std::span<const Gaussian> x, Parameters p) { return shifted(Sum::to_total(x, p.row), p.b); }
  static void to_x(std::span<const Gaussian> x, const Gaussian& y, Parameters p, std::span<Gaussian> out) {
    Sum::to_terms(x, shifted(y, -p.b), p.row, out);
  }

  static void linear_view(const LinearCall& call);
};

Kind linear_function();  // without messages: for joint()

}  // namespace dma
