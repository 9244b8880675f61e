// A point that turns by a tenth of a radian in every step, pushed by noise whose directions are correlated, and seen
// through noise. Vectors with full covariances are rows of the joint solver: the answer is that of a Kalman smoother.
// The last position is then seen again by a sensor at the origin that measures distance and angle, a function of two
// inputs and two outputs with exact derivatives.
//
// Prints:
//   exact: at the end (-1.02, -0.36), correlation 0.36
//   converged: with the sensor (-0.91, -0.47), correlation 0.08
#include <dma.h>
#include <fmt/core.h>

#include <Eigen/Core>
#include <array>
#include <cmath>

int main() {
  using namespace dma;
  constexpr std::uint32_t kSteps = 100;
  std::vector<double> seen;
  std::vector<std::uint32_t> before, after;
  for (std::uint32_t t = 0; t < kSteps; ++t) {
    const double angle = 0.1 * (t + 1), wobble = 0.4 * std::sin(13.0 * t);
    seen.insert(seen.end(), {std::cos(angle) + wobble, std::sin(angle) - wobble});
    for (std::uint32_t k = 0; t > 0 && k < 2; ++k) {
      before.push_back(2 * t - 2 + k);
      after.push_back(2 * t + k);
    }
  }
  Registry registry = standard_registry();
  registry.add(factor_from_vector_function("polar", 2, 2, [](auto x, auto) {
    return std::array{hypot(x[0], x[1]), atan2(x[1], x[0])};
  }));

  for (const bool has_sensor : {false, true}) {
    Graph g;
    const auto x = g.variable("x", 2 * kSteps), y = g.observed("y", 2 * kSteps);
    const double c = std::cos(0.1), s = std::sin(0.1);
    gaussian_vector_prior(g, gather(x, {0, 1}), {1, 0}, SpreadMatrix::covariance({1, 0, 0, 1}));
    gaussian_vector_noise(g, gather(x, before), gather(x, after), SpreadMatrix::covariance({0.02, 0.015, 0.015, 0.02}),
                          {c, -s, s, c});
    gaussian_vector_noise(g, x, y, SpreadMatrix::covariance({0.1, 0, 0, 0.1}));
    if (has_sensor) {
      const auto distance = g.variable("distance"), angle = g.variable("angle"), sensor = g.observed("sensor", 2);
      g.factor("polar", {gather(x, {2 * kSteps - 2, 2 * kSteps - 1}), distance, angle});
      g.factor("gaussian_noise", {distance, gather(sensor, {0})}, {{"variance", 0.01}});
      g.factor("gaussian_noise", {angle, gather(sensor, {1})}, {{"variance", 0.01}});
    }
    const Plan plan = compile(g, joint(), registry);
    State state(plan);
    state.observe(y, seen);
    if (has_sensor) state.observe(g.find_variable("sensor"), {1.0, -2.6});
    set_start(state, x, seen);  // the angle at the origin has no derivative
    const Report report = run(plan, state);
    const std::size_t last = 2 * kSteps - 2;
    const Belief b = state.belief(x);
    const double together = JointPosterior(state).covariance(x, last, x, last + 1);
    fmt::print("{}: {} ({:.2f}, {:.2f}), correlation {:.2f}\n",
               report.stop == Report::Stop::exact ? "exact" : report.converged() ? "converged" : "stopped",
               has_sensor ? "with the sensor" : "at the end", b.mean(last), b.mean(last + 1),
               together / (b.sd(last) * b.sd(last + 1)));
  }
}
