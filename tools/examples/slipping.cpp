// A robot's position is read by a beacon and its speed by the wheels, which say nothing while they slip. A chain of
// regimes, rolling and slipping, chooses the noise of the wheels. Each step is added as it comes; regimes older than
// two steps are summed out.
//
// Prints:
//   exact: 8 cases, the likeliest v2 = 0, v7 = 0, v12 = 0 with 0.9871
//     step 2: slips with 0.01, speed 0.96 +- 0.09
//   approximate: discrete variables that left were matched by moments; 8 cases, the likeliest v4972 =...
//     step 996: slips with 0.01, speed 0.93 +- 0.09
//   approximate: discrete variables that left were matched by moments; 8 cases, the likeliest v4982 =...
//     step 998: slips with 0.95, speed 0.96 +- 0.35
#include <dma.h>
#include <fmt/core.h>

#include <cmath>

int main() {
  using namespace dma;
  GrowingGraph robot(standard_registry(), {.lag = 10, .discrete_lag = 2});
  Graph& g = robot.graph();
  VariableId at{0}, speed{0}, regime{0};
  for (int t = 0; t < 1000; ++t) {
    const VariableId x = g.variable(""), v = g.variable(""), now = g.variable("", 1, "categorical(2)");
    const VariableId beacon = g.observed(""), wheels = g.observed("");
    if (t == 0) {
      g.factor("gaussian_prior", {x}, {{"mean", 0.0}, {"variance", 1.0}});
      g.factor("gaussian_prior", {v}, {{"mean", 1.0}, {"variance", 1.0}});
      g.factor("categorical_prior", {now}, {{"probability", {0.9, 0.1}}});
    } else {
      g.factor("gaussian_linear", {{"x", at}, {"x", speed}, {"y", x}}, {{"A", 1.0}, {"variance", 0.01}});
      g.factor("gaussian_noise", {speed, v}, {{"variance", 0.04}});
      g.factor("table", {regime, now}, {{"probability", {0.95, 0.05, 0.3, 0.7}}});
    }
    g.factor("gaussian_noise", {x, beacon}, {{"variance", 0.25}});
    g.factor("gaussian_noise", {v, wheels}, {{"variance", 0.01}}, {.when = {{now, 0}}});
    g.factor("gaussian_noise", {v, wheels}, {{"variance", 4.0}}, {.when = {{now, 1}}});
    robot.observe(beacon, {t + 0.4 * std::sin(5.0 * t * t)});
    robot.observe(wheels, {t % 100 > 96 ? 1.9 : 1 + 0.1 * std::sin(3.0 * t * t)});
    const Report report = robot.update();
    at = x, speed = v, regime = now;
    if (t == 2 || t == 996 || t == 998)
      fmt::print("{}\n  step {}: slips with {:.2f}, speed {:.2f} +- {:.2f}\n", report, t,
                 robot.belief(regime).probability(0, 1), robot.belief(speed).mean(), robot.belief(speed).sd());
  }
}
