// Poisson regression: 500 counts y ~ Poisson(exp(w . x)) of three inputs, weights w ~ N(0, 1). The joint solver treats
// every count as a site of expectation propagation; the posterior of the weights has its correlations and its evidence.
//
// Prints:
//   converged
//   w[0]  0.489 +- 0.074, in truth 0.5
//   w[1] -0.834 +- 0.070, in truth -0.8
//   w[2]  0.354 +- 0.073, in truth 0.3
//   log evidence -652.43
#include <dma.h>
#include <fmt/core.h>

#include <boost/random/mersenne_twister.hpp>
#include <boost/random/uniform_01.hpp>
#include <cmath>

int main() {
  using namespace dma;
  constexpr std::size_t kRows = 500, kInputs = 3;
  const double truth[kInputs] = {0.5, -0.8, 0.3};
  boost::random::mt19937_64 random(1);
  boost::random::uniform_01<double> uniform;
  std::vector<double> x, y;
  for (std::size_t row = 0; row < kRows; ++row) {
    double log_rate = 0;
    for (const double w : truth) {
      x.push_back(2 * uniform(random) - 1);
      log_rate += w * x.back();
    }
    // A Poisson number: how many waiting times fit into one unit of time.
    double count = 0, time = 0;
    while ((time -= std::log(uniform(random)) / std::exp(log_rate)) < 1) ++count;
    y.push_back(count);
  }

  Graph g;
  const auto w = gaussian_prior(g, g.variable("w", kInputs), 0.0, 1.0);
  const auto counts = g.observed("counts", kRows);
  g.factor("poisson", {linear(g, w, x), counts});
  const Plan plan = compile(g, joint(), standard_registry());
  State state(plan);
  state.observe(counts, y);
  const Report report = run(plan, state);
  const JointPosterior posterior(state);

  fmt::print("{}\n", report.converged() ? "converged" : report.line());
  for (std::size_t i = 0; i < kInputs; ++i)
    fmt::print("w[{}] {:6.3f} +- {:.3f}, in truth {:.1f}\n", i, state.belief(w).mean(i),
               std::sqrt(state.belief(w).variance(i)), truth[i]);
  fmt::print("log evidence {:.2f}\n", posterior.log_evidence());
}
