// Probit, logistic and Poisson regression of 500 rows and 20 inputs, weights w ~ N(0, 1): one graph, in which only the
// kind of the last factor differs. The joint solver treats every row as a site of expectation propagation.
//
// Prints:
//   probit    converged, weights 1.18 standard deviations from the truth, log evidence -273.9
//   logistic  converged, weights 0.90 standard deviations from the truth, log evidence -320.8
//   poisson   converged, weights 0.94 standard deviations from the truth, log evidence -719.1
#include <dma.h>
#include <fmt/core.h>

#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <boost/random/uniform_01.hpp>
#include <cmath>
#include <string>

int main() {
  using namespace dma;
  constexpr std::size_t kRows = 500, kInputs = 20;
  boost::random::mt19937_64 random(2);
  boost::random::uniform_01<double> uniform;
  boost::random::normal_distribution<double> normal;
  std::vector<double> truth, x;
  for (std::size_t i = 0; i < kInputs; ++i) truth.push_back(0.5 * normal(random));
  for (std::size_t i = 0; i < kRows * kInputs; ++i) x.push_back(2 * uniform(random) - 1);

  for (const std::string kind : {"probit", "logistic", "poisson"}) {
    std::vector<double> y;
    for (std::size_t row = 0; row < kRows; ++row) {
      double score = 0;
      for (std::size_t i = 0; i < kInputs; ++i) score += truth[i] * x[row * kInputs + i];
      const double u = uniform(random), noise = kind == "probit" ? normal(random) : std::log(u / (1 - u));
      double count = 0, time = 0;  // a Poisson number: how many waiting times fit into one unit of time
      while (kind == "poisson" && (time -= std::log(uniform(random)) / std::exp(score)) < 1) ++count;
      y.push_back(kind == "poisson" ? count : score + noise > 0 ? 1 : -1);
    }
    Graph g;
    const auto w = gaussian_prior(g, g.variable("w", kInputs), 0.0, 1.0);
    const auto seen = g.observed("seen", kRows);
    g.factor(kind, {linear(g, w, x), seen});
    const Plan plan = compile(g, joint(), standard_registry());
    State state(plan);
    state.observe(seen, y);
    const Report report = run(plan, state);

    double square = 0;
    for (std::size_t i = 0; i < kInputs; ++i)
      square += std::pow((state.belief(w).mean(i) - truth[i]) / state.belief(w).sd(i), 2) / kInputs;
    fmt::print("{:9} {}, weights {:.2f} standard deviations from the truth, log evidence {:.1f}\n", kind,
               report.converged() ? "converged" : report.line(), std::sqrt(square),
               JointPosterior(state).log_evidence());
  }
}
