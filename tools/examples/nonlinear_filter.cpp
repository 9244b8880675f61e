// A height that wanders, seen as an angle from one metre beside: a reading that is not linear. An iterated extended
// Kalman filter linearises it at the mean (joint() over a window), its smoother does so for the whole series, and
// messages linearise it by its moments under the belief (quadrature, as sigma points of an unscented filter do).
//
// Prints:
//   filter
//     at the end -0.895 +- 0.282
//   converged after 13 solves; the Gaussian does not fit the posterior (k 0.83); try draw_posterior()
//     at the end -0.897 +- 0.281
//     by draws -1.0 +- 0.3
//   converged after 59 sweeps, approximate: by messages of angle; compare with joint()
//     at the end -0.940 +- 0.286
#include <dma.h>
#include <fmt/core.h>

#include <cmath>
#include <utility>

int main() {
  using namespace dma;
  constexpr std::uint32_t kSteps = 30;
  const auto reading_at = [](std::uint32_t t) {
    return std::atan(2 * std::sin(0.2 * t)) + 0.2 * std::sin(11.0 * t * t);
  };
  Registry registry = standard_registry();
  registry.add(factor_from_function("angle", [](double x) { return std::atan(x); }));

  GrowingGraph filter(registry, {.lag = 1});
  VariableId now{0};
  for (std::uint32_t t = 0; t < kSteps; ++t) {
    Graph& g = filter.graph();
    const VariableId before = std::exchange(now, g.variable("")), angle = g.variable(""), y = g.observed("");
    if (t == 0) g.factor("gaussian_prior", {now}, {{"mean", 0.0}, {"variance", 1.0}});
    if (t > 0) g.factor("gaussian_noise", {before, now}, {{"variance", 0.1}});
    g.factor("angle", {now, angle});
    g.factor("gaussian_noise", {angle, y}, {{"variance", 0.04}});
    filter.observe(y, {reading_at(t)});
    filter.update();
  }
  fmt::print("filter\n  at the end {:.3f} +- {:.3f}\n", filter.belief(now).mean(), filter.belief(now).sd());

  Graph g;
  const auto x = g.variable("x", kSteps), angle = g.variable("angle", kSteps), y = g.observed("y", kSteps);
  g.factor("gaussian_prior", {gather(x, {0})}, {{"mean", 0.0}, {"variance", 1.0}});
  g.factor("gaussian_noise", {shift(x), x}, {{"variance", 0.1}});
  g.factor("angle", {x, angle});
  g.factor("gaussian_noise", {angle, y}, {{"variance", 0.04}});
  std::vector<double> readings;
  for (std::uint32_t t = 0; t < kSteps; ++t) readings.push_back(reading_at(t));
  for (const Solve& way : {Solve(joint()), Solve(sequential())}) {
    const Answer answer = solve(g, {{y, readings}}, way, {.registry = &registry});
    fmt::print("{}\n  at the end {:.3f} +- {:.3f}\n", answer.report, answer[x].mean(29), answer[x].sd(29));
    if (!answer.report.joint) continue;
    const JointDraws draws = draw_posterior(answer.state);
    fmt::print("  by draws {:.1f} +- {:.1f}\n", draws.mean(x, 29), draws.sd(x, 29));
  }
}
