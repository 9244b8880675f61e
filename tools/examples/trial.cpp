// A clinical trial in one graph: did the treatment do anything? If so each group has its own probability of success,
// otherwise they share one. A gate chooses, weighted by the evidence of the two models.
//
// Prints:
//   exact: 2 cases, the likeliest effective = yes with 0.7549
//   treated ~ beta(5, 2)
//   log evidence -7.21437, exact
#include <dma.h>
#include <fmt/core.h>

int main() {
  using namespace dma;
  Graph g;
  const auto effective = g.variable("effective", 1, "bernoulli");
  const auto all = g.variable("all", 1, "beta"), control = g.variable("control", 1, "beta"),
             treated = g.variable("treated", 1, "beta");
  const auto without = g.observed("without", 5, "bernoulli"), with = g.observed("with", 5, "bernoulli");
  g.name_categories(effective, {"no", "yes"});
  g.factor("bernoulli_prior", {effective}, {{"probability", 0.5}});

  const FactorOptions if_not{.when = {{effective, 0}}}, if_so{.when = {{effective, 1}}};
  const ParameterList flat{{"a", 1.0}, {"b", 1.0}};
  g.factor("beta_prior", {all}, flat, if_not);
  g.factor("bernoulli_draw", {all_to_one(all), without}, {}, if_not);
  g.factor("bernoulli_draw", {all_to_one(all), with}, {}, if_not);
  g.factor("beta_prior", {control}, flat, if_so);
  g.factor("beta_prior", {treated}, flat, if_so);
  g.factor("bernoulli_draw", {all_to_one(control), without}, {}, if_so);
  g.factor("bernoulli_draw", {all_to_one(treated), with}, {}, if_so);

  const Plan plan = compile(g, gates(forward_backward()), standard_registry());
  State state(plan);
  state.observe(without, {0, 0, 1, 0, 0});
  state.observe(with, {1, 0, 1, 1, 1});
  fmt::print("{}\n", run(plan, state));
  fmt::print("{}\n{}\n", state.belief(treated), evidence(plan, state));
}
