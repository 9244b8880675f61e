// gates/: graphs whose factors count only in certain cases. May include run/ and what lies below it.
//
// A discrete variable chooses between whole parts of a graph, and the evidence of each weighs its value: was the
// treatment effective, so that the two groups differ, or do all share one probability?
//
//   const VariableId effective = g.variable("effective", 1, "bernoulli");
//   g.factor("bernoulli_draw", {all_to_one(one), control}, {}, {.when = {{effective, 0}}});
//   const Plan plan = compile(g, gates(forward_backward()), standard_registry());
//
// Every combination of values of such variables is a case: the graph with those values observed and the factors that
// count there, solved by the rule passed to gates(). Beliefs are mixtures of the cases' beliefs, weighted by evidence;
// families without mixtures match mean and variance. A variable that has no factor in a case does not exist in it, and
// its belief comes from the other cases; a shared variable always exists. The answer is exact if the answer of every
// case is.
#pragma once

#include <functional>
#include <type_traits>
#include <utility>

#include "engine/compile/compile.h"

namespace dma {

struct Gates {
  std::function<Plan(const Graph&, const Registry&, const CompileOptions&)> compile_case;
  // The rule takes no factors among discrete variables: gates() evaluates those with given values.
  bool is_gaussian = false;
};

struct Joint;

// The rule is a schedule, exact() or joint(); for joint(), each case must be Gaussian.
template <class Rule>
Gates gates(Rule rule) {
  return {[rule = std::move(rule)](const Graph& graph, const Registry& registry, const CompileOptions& options) {
            return compile(graph, rule, registry, options);
          },
          std::is_same_v<Rule, Joint>};
}

// Throws an Error that names the variables with too many cases together.
Plan compile(const Graph& graph, const Gates& gates, const Registry& registry, const CompileOptions& options = {});

// Uses the rule itself if the graph has no gates.
template <class Rule>
Plan compile_with_gates(const Graph& graph, const Rule& rule, const Registry& registry, const CompileOptions& options) {
  return graph.has_gates() ? compile(graph, gates(rule), registry, options) : compile(graph, rule, registry, options);
}

}  // namespace dma
