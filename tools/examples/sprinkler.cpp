// The grass is wet: has it rained, or was it the sprinkler? Tables over categorical variables. To avoid a loop,
// sprinkler and rain, which both depend on the clouds, are one variable of four categories: dry, rain, sprinkler, both.
//
// Prints:
//   wet grass, exact: probability 0.6471
//     rain      0.7079
//     sprinkler 0.4298
//     clouds    0.5758
//   dry grass, exact: probability 0.3529
//     rain      0.1187
//     sprinkler 0.0621
//     clouds    0.3610
#include <dma.h>
#include <fmt/core.h>

int main() {
  using namespace dma;
  Graph g;
  const auto cloudy = g.variable("cloudy", 1, "categorical(2)"), cause = g.variable("cause", 1, "categorical(4)"),
             rain = g.variable("rain", 1, "categorical(2)"), sprinkler = g.variable("sprinkler", 1, "categorical(2)"),
             wet = g.observed("wet", 1, "categorical(2)");
  g.factor("categorical_prior", {cloudy}, {{"probability", {0.5, 0.5}}});
  g.factor("table", {cloudy, cause}, {{"probability", {0.5 * 0.8, 0.5 * 0.2, 0.5 * 0.8, 0.5 * 0.2,      // clear
                                                       0.9 * 0.2, 0.9 * 0.8, 0.1 * 0.2, 0.1 * 0.8}}});  // cloudy
  g.factor("table", {cause, rain}, {{"probability", {1, 0, 0, 1, 1, 0, 0, 1}}});
  g.factor("table", {cause, sprinkler}, {{"probability", {1, 0, 1, 0, 0, 1, 0, 1}}});
  g.factor("table", {cause, wet}, {{"probability", {1, 0, 0.1, 0.9, 0.1, 0.9, 0.01, 0.99}}});

  const Plan plan = compile(g, forward_backward(), standard_registry());
  State state(plan);
  for (const double seen : {1.0, 0.0}) {
    state.observe(wet, seen);
    const Report report = run(plan, state);
    fmt::print("{} grass, {}: probability {:.4f}\n", seen == 1 ? "wet" : "dry",
               report.stop == Report::Stop::exact ? "exact" : report.line(), std::exp(log_evidence(plan, state)));
    for (const auto& [name, variable] : {std::pair{"rain", rain}, {"sprinkler", sprinkler}, {"clouds", cloudy}})
      fmt::print("  {:<9} {:.4f}\n", name, state.belief(variable).mean(0, 1));
  }
}
