// Densities of one variable: messages that depend on parameters only.
#pragma once

#include <span>
#include <vector>

#include "engine/kinds/kind.h"
#include "factors/families/bernoulli.h"
#include "factors/families/beta.h"
#include "factors/families/categorical.h"
#include "factors/families/dirichlet.h"
#include "factors/families/gamma.h"

namespace dma {

struct GammaPrior {
  struct Parameters {
    double shape, rate;
  };
  static Gamma to_x(Parameters p) { return Gamma::from_shape_and_rate(p.shape, p.rate); }
};

struct BetaPrior {
  struct Parameters {
    double a, b;
  };
  static Beta to_x(Parameters p) { return {p.a - 1, p.b - 1}; }
};

struct BernoulliPrior {
  struct Parameters {
    double probability;
  };
  static Bernoulli to_x(Parameters p) { return Bernoulli::from_probability(p.probability); }
};

// One number per category.
struct NumbersOfCategories {
  std::span<const double> numbers;
  static NumbersOfCategories bind(const ParameterRow& row) { return {row.terms(0)}; }
};

struct CategoricalPrior {
  static std::vector<double> prepare(std::span<const double> given, const PortComponents& components);
  static void to_x(NumbersOfCategories p, std::span<CategoricalComponent> x);
};

struct DirichletPrior {
  static std::vector<double> prepare(std::span<const double> given, const PortComponents& components);
  static void to_x(NumbersOfCategories p, std::span<DirichletComponent> x);
};

}  // namespace dma
