// A learner runs whatever schedule it is given, on every example and every prediction.
#include "tests/oracles/learned_line.h"

namespace {

constexpr double kScheduledNoise = 0.3, kScheduledPrior = 2;

// y = w x + noise through two more variables, so that flooding needs several sweeps.
struct PlainChain {
  Graph g;
  VariableId w = g.shared("w"), x = g.observed("x"), y = g.observed("y");
  PlainChain() {
    const VariableId p = g.variable("p"), q = g.variable("q");
    g.factor("gaussian_prior", {w}, {{"mean", 0.5}, {"variance", kScheduledPrior}});
    g.factor("product", {w, x, p});
    g.factor("copy", {p, q});
    g.factor("gaussian_noise", {q, y}, {{"variance", kScheduledNoise}});
  }
};

const std::vector<double> kScheduledX = {1, -2, 0.5, 3}, kScheduledY = {0.7, -2.5, 1, 4};

}  // namespace

TEST_CASE("learn: every order of a schedule gives the exact posterior of a tree") {
  double rho = 1 / kScheduledPrior, tau = 0.5 / kScheduledPrior;
  for (std::size_t n = 0; n < kScheduledX.size(); ++n)
    rho += kScheduledX[n] * kScheduledX[n] / kScheduledNoise, tau += kScheduledX[n] * kScheduledY[n] / kScheduledNoise;
  const PlainChain chain;
  for (const Scheduler& rule :
       {forward_backward(), flooding({.limit = 100}), sequential({.limit = 100}), residual({.limit = 100})}) {
    CAPTURE(rule.name);
    for (const auto likelihood : {LearnOptions::Likelihood::after_epoch, LearnOptions::Likelihood::while_sweeping}) {
      Learner learner(chain.g, standard_registry(), rule, rule,
                      {.targets = {chain.y}, .batches = 2, .epochs = 2, .tolerance = 0, .likelihood = likelihood});
      const LearnReport report = learner.fit({{chain.x, kScheduledX}, {chain.y, kScheduledY}});
      CHECK(learner.belief(chain.w)[0].rho == oracle::relative(rho, 1e-12));
      CHECK(learner.belief(chain.w)[0].tau == oracle::relative(tau, 1e-12));
      CHECK(report.epochs.back().unfinished == 0);
      const double input = 2;
      double mean = 0, variance = 0;
      learner.predict({{chain.x, {&input, 1}}}, {&mean, 1}, {&variance, 1});
      CHECK(mean == oracle::relative(input * tau / rho, 1e-12));
      CHECK(variance == oracle::relative(input * input / rho + kScheduledNoise, 1e-12));
    }
  }
}

TEST_CASE("learn: examples that the limit cut short are counted and named") {
  const PlainChain chain;
  Learner learner(chain.g, standard_registry(), flooding({.limit = 2}), forward(),
                  {.targets = {chain.y}, .batches = 2, .epochs = 1, .tolerance = 0});
  const LearnReport report = learner.fit({{chain.x, kScheduledX}, {chain.y, kScheduledY}});
  CHECK(report.epochs[0].unfinished == kScheduledX.size());
  CHECK(report.line().find("4 examples not iterated to the end") != std::string::npos);
}
