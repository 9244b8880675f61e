// Shared variables that factors of the model join: a mean of which every weight is a noisy copy.
#include "engine/learn/messages/shared_factors.h"

#include <Eigen/Dense>

#include "tests/oracles/learned_line.h"

namespace {

constexpr double kMeanVariance = 4, kSpread = 0.5, kSharedNoise = 0.2;

// m ~ N(1, 4), w ~ N(m, 0.5), y = w x + noise.
struct Hierarchy {
  Graph g;
  VariableId m = g.shared("m"), w = g.shared("w"), x = g.observed("x"), y = g.observed("y");
  FactorId spread;
  Hierarchy() {
    const VariableId p = g.variable("p");
    g.factor("gaussian_prior", {m}, {{"mean", 1.0}, {"variance", kMeanVariance}});
    spread = g.factor("gaussian_noise", {m, w}, {{"variance", kSpread}});
    g.factor("product", {w, x, p});
    g.factor("gaussian_noise", {p, y}, {{"variance", kSharedNoise}});
  }
  Learner learner(const Scheduler& rule) const {
    return {g, standard_registry(), rule, forward(), {.targets = {y}, .batches = 2, .epochs = 2, .tolerance = 0}};
  }
  // Joint posterior of (m, w) given the first `count` examples.
  static void check(const Learner& learner, const Hierarchy& h, std::size_t count, double spread = kSpread);
};

const std::vector<double> kSharedX = {1, 2, -1, 0.5}, kSharedY = {2.5, 5.5, -2, 1};

void Hierarchy::check(const Learner& learner, const Hierarchy& h, std::size_t count, double spread) {
  Eigen::Matrix2d precision{{1 / kMeanVariance + 1 / spread, -1 / spread}, {-1 / spread, 1 / spread}};
  Eigen::Vector2d shift{1 / kMeanVariance, 0};
  for (std::size_t n = 0; n < count; ++n) {
    precision(1, 1) += kSharedX[n] * kSharedX[n] / kSharedNoise;
    shift(1) += kSharedX[n] * kSharedY[n] / kSharedNoise;
  }
  const Eigen::Matrix2d covariance = precision.inverse();
  const Eigen::Vector2d mean = covariance * shift;
  for (const auto& [v, k] : {std::pair{h.m, 0}, std::pair{h.w, 1}}) {
    CHECK(learner.belief(v).mean() == oracle::relative(mean(k), 1e-10));
    CHECK(learner.belief(v).variance() == oracle::relative(covariance(k, k), 1e-10));
  }
}

}  // namespace

TEST_CASE(
    "shared factors: beliefs are exact before learning, after it, restored, forgotten and with another parameter") {
  const Hierarchy h;
  const Data data{{h.x, kSharedX}, {h.y, kSharedY}};
  for (const Scheduler& rule : {forward_backward(), flooding({.limit = 100})}) {
    CAPTURE(rule.name);
    Learner learner = h.learner(rule);
    Hierarchy::check(learner, h, 0);
    learner.fit(data, [&](const EpochRecord&) {
      Hierarchy::check(learner, h, 4);
      return true;
    });
    Hierarchy::check(learner, h, 4);
    Learner restored = h.learner(rule);
    restored.restore(learner.memory());
    Hierarchy::check(restored, h, 4);
    restored.forget(1);
    Hierarchy::check(restored, h, 2);
    const double spread = 2;
    restored.set_parameter(h.spread, "variance", {&spread, 1});
    Hierarchy::check(restored, h, 2, spread);
  }
}
