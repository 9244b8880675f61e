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
// count there, solved by the rule that gates() is given. Beliefs are those of the cases, mixed by their evidence; in a
// family that has no mixtures, by mean and variance. What no factor of a case meets does not exist in it, and is
// believed given the others; a shared variable exists always. The answer is exact where each case has an exact one.
#pragma once

#include <functional>
#include <type_traits>
#include <utility>

#include "engine/compile/compile.h"

namespace dma {

struct Gates {
  std::function<Plan(const Graph&, const Registry&, const CompileOptions&)> compile_case;
  bool is_gaussian = false;  // the rule takes no factors among discrete variables; of given ones they are counted here
};

struct Joint;

// By a schedule, by exact() or by joint(), to which a case is Gaussian.
template <class Rule>
Gates gates(Rule rule) {
  return {[rule = std::move(rule)](const Graph& graph, const Registry& registry, const CompileOptions& options) {
            return compile(graph, rule, registry, options);
          },
          std::is_same_v<Rule, Joint>};
}

// An Error names what has too many cases together.
Plan compile(const Graph& graph, const Gates& gates, const Registry& registry, const CompileOptions& options = {});

// By the rule itself where every factor counts always.
template <class Rule>
Plan compile_with_gates(const Graph& graph, const Rule& rule, const Registry& registry, const CompileOptions& options) {
  return graph.has_gates() ? compile(graph, gates(rule), registry, options) : compile(graph, rule, registry, options);
}

}  // namespace dma
