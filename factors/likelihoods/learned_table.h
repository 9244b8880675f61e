// P(child = k | parent = a) = p_a(k), where the rows p_a are unknown: one Dirichlet variable per category of the
// parent. With w and v the arriving weights of the parent and the child, and c_a the counts of row a with sum s_a:
//
//   to child    sum over a of w_a c_ak / s_a
//   to parent   sum over k of v_k c_ak / s_a
//   to rows     with r_ak ~ w_a v_k c_ak / s_a, row a is Dirichlet(c_a + e_k) with weight r_ak and unchanged with the
//               rest: that mixture projected on its mean and the sum of its variances, divided by the arriving message
//               (method "ep"); the weights if that is no message. If both are observed it is one more count, exactly
//
// A plate reads all rows in every slot: {{"rows", column(p)}, {"parent", shift(z)}, {"child", z}} are the transitions
// of a Markov chain. The parameter "categories" is the number of categories per row, which the graph is checked
// against.
#pragma once

#include <span>
#include <vector>

#include "engine/kinds/kind.h"
#include "factors/families/categorical.h"
#include "factors/families/dirichlet.h"

namespace dma {

struct LearnedTable {
  struct Parameters {
    std::size_t categories;
    static Parameters bind(const ParameterRow& row) { return {static_cast<std::size_t>(row.terms(0)[0])}; }
  };
  static std::vector<double> prepare(std::span<const double> given, const PortComponents& components);

  using Rows = std::span<const DirichletComponent>;
  using Message = std::span<const CategoricalComponent>;
  static void to_child(Rows rows, Message parent, Parameters p, std::span<CategoricalComponent> child);
  static void to_parent(Rows rows, Message child, Parameters p, std::span<CategoricalComponent> parent);
  static void to_rows(Rows rows, Message parent, Message child, Parameters p,
                      std::span<OrFallback<DirichletComponent>> out);
  // Arguments: rows, parent and child.
  static double log_integral(Components arrivals, Parameters p);
};

}  // namespace dma
