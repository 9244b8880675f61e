// A random walk of ten steps as one plate: x_t = x_(t-1) + noise, read with noise on some of the days. shift(x) is the
// step before; a day without a reading is std::nullopt. One sweep forward and backward is exact, for ten steps or for a
// million.
//
// Prints:
//   exact
//   day 0: 12.38 +- 0.43, read 12.1
//   day 1: 12.95 +- 0.41, read 12.9
//   day 2: 13.61 +- 0.66
//   day 3: 14.28 +- 0.66
//   day 4: 14.94 +- 0.41, read 15.2
//   day 5: 15.09 +- 0.38, read 14.8
//   day 6: 15.83 +- 0.40, read 15.9
//   day 7: 16.42 +- 0.60
//   day 8: 17.01 +- 0.45, read 17.3
//   day 9: 17.01 +- 0.84
#include <dma.h>
#include <fmt/core.h>

#include <cmath>
#include <optional>

int main() {
  using namespace dma;
  const std::vector<std::optional<double>> readings{12.1, 12.9, std::nullopt, std::nullopt, 15.2,
                                                    14.8, 15.9, std::nullopt, 17.3,         std::nullopt};
  Graph g;
  const auto x = g.variable("x", readings.size()), y = g.observed("y", readings.size());
  g.factor("gaussian_prior", {gather(x, {0})}, {{"mean", 10.0}, {"variance", 100.0}});
  g.factor("gaussian_noise", {shift(x), x}, {{"variance", 0.5}});
  g.factor("gaussian_noise", {x, y}, {{"variance", 0.25}});
  const Plan plan = compile(g, forward_backward(), standard_registry());
  State state(plan);
  state.observe(y, readings);
  const Report report = run(plan, state);
  fmt::print("{}\n", report.stop == Report::Stop::exact ? "exact" : report.line());
  const Belief belief = state.belief(x);
  for (std::size_t t = 0; t < readings.size(); ++t)
    fmt::print("day {}: {:5.2f} +- {:.2f}{}\n", t, belief.mean(t), std::sqrt(belief.variance(t)),
               readings[t] ? fmt::format(", read {:.1f}", *readings[t]) : "");
}
