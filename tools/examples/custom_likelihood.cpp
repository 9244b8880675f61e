// A custom likelihood in one line: readings of a thermometer that stops at 30 degrees. A reading of 30 stands for any
// temperature above; taken literally it would bias the mean.
//
// Prints:
//   gaussian_noise  mean ~ N(29.18, 0.7053^2)
//   thermometer     mean ~ N(29.99, 0.7811^2)
#include <dma.h>
#include <fmt/core.h>

#include <cmath>

int main() {
  using namespace dma;
  // log density of the reading y given the true value x: Gaussian below the stop, the mass beyond it at the stop.
  const auto log_density = [](double x, double y, std::span<const double> p) {
    const double stop = p[0], sd = p[1];
    if (y < stop) return -0.5 * (y - x) * (y - x) / (sd * sd) - std::log(sd * 2.5066282746310002);
    return std::log(0.5 * std::erfc((stop - x) / (sd * std::sqrt(2.0))));
  };
  Registry registry = standard_registry();
  registry.add(likelihood_from_log_density("thermometer", log_density, "a reading that stops",
                                           {{"stop", finite()}, {"sd", above(0)}}));

  const std::vector<double> readings{27.1, 30.0, 28.4, 30.0, 29.3, 30.0, 30.0, 28.8};
  for (const char* kind : {"gaussian_noise", "thermometer"}) {
    Graph g;
    const auto mean = gaussian_prior(g, g.variable("mean"), 25.0, 100.0);
    const auto seen = g.observed("readings", readings.size());
    if (kind == std::string("thermometer"))
      g.factor(kind, {all_to_one(mean), seen}, {{"stop", 30.0}, {"sd", 2.0}});
    else
      g.factor(kind, {all_to_one(mean), seen}, {{"variance", 4.0}});
    const Plan plan = compile(g, joint(), registry);
    State state(plan);
    state.observe(seen, readings);
    (void)run(plan, state);
    fmt::print("{:<15} {}\n", kind, state.belief(mean));
  }
}
