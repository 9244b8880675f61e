// The program of tools/docs/tutorial.md: three parcels on two scales, with an offset each, and a reading that was
// wrong.
//
// Prints:
//   one sweep of a graph with loops: approximate; iterate with flooding, sequential or residual
//     weight ~ N(2.376, 0.3778^2), N(3.213, 0.3778^2), N(7.002, 0.3778^2)
//   converged after 197 sweeps, means exact, variances approximate: correlated loops; take joint()
//     weight ~ N(2.346, 0.2138^2), N(3.194, 0.2138^2), N(7.035, 0.2138^2)
//   exact after 1 solve; objective 46.9755, gradient 1.5e-14
//     weight ~ N(2.346, 0.3734^2), N(3.194, 0.3734^2), N(7.035, 0.3734^2)
//   converged after 42 solves; the Gaussian does not fit the posterior (moments); try draw_posterior()
//     weight ~ N(2.349, 0.3723^2), N(3.197, 0.3792^2), N(6.805, 1.071^2)
//   log evidence -53.5117, exact
//   log evidence -25.1778, approximate: Laplace's method, with EP's energy for sites and pairs of them
//   laplace: matched
#include <dma.h>
#include <fmt/core.h>

int main() {
  using namespace dma;
  const std::vector<std::uint32_t> parcel{0, 1, 2, 0, 1, 2}, scale{0, 0, 0, 1, 1, 1};
  const std::vector<double> readings{2.1, 3.0, 5.2, 2.6, 3.4, 8.9};

  Graph g;
  const auto weight = gaussian_prior(g, g.variable("weight", 3), 4.0, 9.0);
  const auto offset = gaussian_prior(g, g.variable("offset", 2), 0.0, 0.25);
  const auto shown = g.variable("shown", 6), seen = g.observed("seen", 6);
  g.factor("sum", {gather(weight, parcel), gather(offset, scale), shown});
  Graph robust = g;
  g.factor("gaussian_noise", {shown, seen}, {{"variance", 0.04}});

  const auto solve = [&](const Plan& plan) {
    State state(plan);
    state.observe(seen, readings);
    const Report report = run(plan, state);
    fmt::print("{}\n  {}\n", report, state.belief(weight));
    return state;
  };
  const Registry registry = standard_registry();
  solve(compile(g, forward_backward(), registry));
  solve(compile(g, flooding(), registry));
  const Plan gaussian = compile(g, joint(), registry);
  const State trusting = solve(gaussian);

  Registry mine = registry;
  mine.add(likelihood_from_log_density(
      "laplace",
      [](double x, double y, std::span<const double> p) { return -std::abs(y - x) / p[0] - std::log(2 * p[0]); },
      "y = x and noise with outliers", {{"scale", above(0)}}));
  robust.factor("laplace", {shown, seen}, {{"scale", 0.15}});
  const Plan plan = compile(robust, joint(), mine);
  const State state = solve(plan);
  fmt::print("{}\n{}\n", evidence(gaussian, trusting), evidence(plan, state));

  const Certificate certificate = certify(mine.kind("laplace"), "ep", quick_certification());
  fmt::print("laplace: {}\n", name(certificate.band));
}
