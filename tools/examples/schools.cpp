// Eight schools: effects of coaching y ~ N(theta, known errors), theta ~ N(mu, tau), mu ~ N(0, 5), tau half-Cauchy. The
// spread tau of the schools is not known: the joint solver integrates over it, and all beliefs are mixtures.
//
// Prints:
//   converged
//   tau 3.60 +- 3.22, median 2.72
//   mu 4.40 +- 3.32, 90 % from -1.08 to 9.82
//   first school 6.2 +- 5.6, last school 4.9 +- 5.3
//   log evidence -31.3
#include <dma.h>
#include <fmt/core.h>

int main() {
  using namespace dma;
  const std::vector<double> effects = {28, 8, -3, 7, -1, 1, 18, 12}, errors = {15, 10, 16, 11, 9, 11, 10, 18};
  std::vector<double> variances;
  for (const double error : errors) variances.push_back(error * error);

  Graph g;
  const auto mu = gaussian_prior(g, g.variable("mu"), 0.0, 25.0);
  const auto theta = g.variable("theta", 8), y = g.observed("y", 8);
  const FactorId spread = g.factor("gaussian_noise", {all_to_one(mu), theta}, {{"variance", 1.0}});
  g.factor("gaussian_noise", {theta, y}, {{"variance", variances}});

  // The variance of that factor is tau^2.
  const Hyper tau = hyper("tau", HyperPrior::half_cauchy(5), {{spread, "variance", 2}});
  const Plan plan = compile(g, joint({.hypers = {tau}}), standard_registry());
  State state(plan);
  state.observe(y, effects);
  const Report report = run(plan, state);

  const JointPosterior posterior(state);
  const HyperBelief found = posterior.hyper("tau");
  const Belief m = state.belief(mu), t = state.belief(theta);
  fmt::print("{}\n", report.converged() ? "converged" : report.line());
  fmt::print("tau {:.2f} +- {:.2f}, median {:.2f}\n", found.mean(), found.sd(), found.quantile(0.5));
  fmt::print("mu {:.2f} +- {:.2f}, 90 % from {:.2f} to {:.2f}\n", m.mean(), m.sd(), posterior.quantile(mu, 0.05),
             posterior.quantile(mu, 0.95));
  fmt::print("first school {:.1f} +- {:.1f}, last school {:.1f} +- {:.1f}\n", t.mean(0), t.sd(0), t.mean(7), t.sd(7));
  fmt::print("log evidence {:.1f}\n", posterior.log_evidence());
}
