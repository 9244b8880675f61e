// Targets that are log-normal.
#include "factors/families/log_normal.h"

#include <boost/math/constants/constants.hpp>

#include "tests/oracles/learned_line.h"

namespace {

struct LogNormalPrior {
  struct Parameters {
    double log_mean, log_variance;
  };
  static LogNormal to_x(Parameters p) { return LogNormal::from_log_moments(p.log_mean, p.log_variance); }
};

Registry with_log_normal_prior() {
  Registry registry = standard_registry();
  registry.add(kind("log_normal_prior", "LN(x; log_mean, log_variance)")
                   .output("x", "log_normal")
                   .parameter("log_mean", finite())
                   .parameter("log_variance", above(0))
                   .log_density([](std::span<const double> v, std::span<const double> p) {
                     return log_density(Gaussian::from_moments(p[0], p[1]), v[0]);
                   })
                   .message<&LogNormalPrior::to_x>("dma", "x"));
  return registry;
}

}  // namespace

TEST_CASE("learn: a log-normal target is predicted itself, not its logarithm, with its own density") {
  // y = w e with w ~ LN(0.4, 0.09) shared and e ~ LN(0, 0.25) of each example: a sum of logarithms.
  Graph g;
  const VariableId w = g.shared("w", 1, "log_normal"), e = g.variable("e", 1, "log_normal"),
                   y = g.observed("y", 1, "log_normal");
  const double m0 = 0.4, v0 = 0.09, noise = 0.25;
  const auto prior = [&](VariableId v, double mean, double variance) {
    g.factor("log_normal_prior", {v}, {{"log_mean", mean}, {"log_variance", variance}});
  };
  prior(w, m0, v0);
  prior(e, 0, noise);
  g.factor("sum", {w, e, y});
  for (const auto likelihood : {LearnOptions::Likelihood::after_epoch, LearnOptions::Likelihood::while_sweeping}) {
    Learner learner(g, with_log_normal_prior(), forward_backward(), forward(),
                    {.targets = {y}, .batches = 1, .epochs = 1, .likelihood = likelihood});
    const std::vector<double> observed = {2.5};
    const LearnReport report = learner.fit({{y, observed}});
    double rho = 1 / v0, tau = m0 / v0;
    const bool after = likelihood == LearnOptions::Likelihood::after_epoch;
    if (after) rho += 1 / noise, tau += std::log(observed[0]) / noise;
    const double m = tau / rho, v = 1 / rho + noise, off = std::log(observed[0]) - m;
    CHECK(learner.fitted_means()[0] == oracle::relative(std::exp(m + v / 2), 1e-12));
    CHECK(learner.fitted_variances()[0] == oracle::relative((std::exp(v) - 1) * std::exp(2 * m + v), 1e-12));
    const double log_density =
        -std::log(observed[0]) - 0.5 * std::log(boost::math::constants::two_pi<double>() * v) - off * off / (2 * v);
    CHECK(report.epochs[0].log_likelihood == oracle::relative(log_density, 1e-12));
    const std::vector<double> negative = {-1};
    CHECK_THROWS_WITH_AS(learner.fit({{y, negative}}), doctest::Contains("a positive number is expected"), Error);
  }
}
