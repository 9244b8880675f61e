// A robot walks around a square and recognises two places at the end: one correctly, the other not. A Gaussian trusts
// both readings and distorts the walk; Cauchy's loss ignores the wrong one.
//
// Prints:
//   half squares: converged, the walk ends at (-0.124, 0.365) +- 0.083
//   huber: converged, the walk ends at (-0.016, 0.023) +- 0.090
//   cauchy: converged, the walk ends at (-0.001, 0.001) +- 0.092
#include <dma.h>
#include <fmt/core.h>

#include <cmath>
#include <numbers>

int main() {
  using namespace dma;
  constexpr double kPi = std::numbers::pi;
  const auto diagonal = [](double place, double angle) {
    return SpreadMatrix::covariance({place, 0, 0, 0, place, 0, 0, 0, angle});
  };
  for (const Loss& loss : {Loss{}, Loss{"huber", 1}, Loss{"cauchy", 1}}) {
    Graph g;
    const auto x = g.variable("x", 5, "pose2");
    point_prior(g, gather(x, {0}), {0, 0, 0}, diagonal(1e-4, 1e-4));
    between(g, gather(x, {0, 1, 2, 3}), gather(x, {1, 2, 3, 4}), {1, 0, kPi / 2}, diagonal(0.01, 0.01));
    between(g, gather(x, {0, 1}), gather(x, {4, 4}), {0, 0, 0, 0.8, 1.9, 0.5}, diagonal(0.01, 0.01), loss);
    const Plan plan = compile(g, joint(), standard_registry());
    State state(plan);
    set_start(state, x, std::vector<double>{0, 0, 0, 1, 0, kPi / 2, 1, 1, kPi, 0, 1, -kPi / 2, 0, 0, 0});
    const Report report = run(plan, state);
    const Belief b = state.belief(x);
    fmt::print("{}: {}, the walk ends at ({:.3f}, {:.3f}) +- {:.3f}\n", loss.kind.empty() ? "half squares" : loss.kind,
               report.converged() ? "converged" : "stopped", b.mean(4, 0), b.mean(4, 1), b.sd(4, 0));
  }
}
