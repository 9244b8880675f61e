// The table of methods keeps its promises.
#include "tools/experiments/paper/methods.h"

#include <doctest/doctest.h>

#include "engine/support/text.h"
#include "tests/oracles/relative.h"
#include "tools/experiments/paper/scores.h"
#include "tools/experiments/paper/writer.h"

namespace dma::reproduce {

TEST_CASE("methods: starts of joint learning are mixed to a density, and predict what they say") {
  const Task task = make_task("small", 1);
  const Fitted fitted = fit_network(task, 1, {}, {.method = "joint", .data_prior = true, .starts = 2});
  const Prediction p = fitted.predict(task.features(task.outside(4)));
  Eigen::MatrixXd weight = Eigen::MatrixXd::Zero(4, 1), mean = weight;
  for (const PredictionComponent& c : p.components) weight += c.weight, mean += c.weight.cwiseProduct(c.mean);
  REQUIRE(p.components.size() == 2);
  CHECK((weight.array() - 1).abs().maxCoeff() < 1e-12);
  CHECK((mean - p.mean).norm() < 1e-12);
  CHECK((p.components[0].mean - p.components[1].mean).norm() > 0);
  CHECK((p.cumulative(Eigen::MatrixXd::Constant(4, 1, 1e6)).array() - 1).abs().maxCoeff() < 1e-12);
}

TEST_CASE("methods: with slopes 1 joint learning is linear in the features") {
  const Task task = make_task("small", 2);
  const Fitted fitted = fit_network(task, 2, {}, {.method = "joint", .data_prior = true, .linear = true});
  const Eigen::MatrixXd a = task.features({-3.0}), b = task.features({2.5});
  const auto mean = [&](const Eigen::MatrixXd& x) { return fitted.predict(x).mean(0, 0); };
  CHECK(mean(2 * a - 0.5 * b) == oracle::relative(2 * mean(a) - 0.5 * mean(b), 1e-9));
  const Fitted bent = fit_network(task, 2, {}, {.method = "joint", .data_prior = true});
  CHECK(bent.predict(2 * a - 0.5 * b).mean(0, 0) !=
        oracle::relative(2 * bent.predict(a).mean(0, 0) - 0.5 * bent.predict(b).mean(0, 0), 1e-3));
}

TEST_CASE("methods: every experiment's fits are of known methods; a wrong name is answered with the nearest") {
  CHECK_THROWS_WITH_AS(method("laplase"), doctest::Contains("did you mean 'laplace'?"), Error);
  for (const Method& m : methods()) CHECK(method(m.name).title == m.title);
}

}  // namespace dma::reproduce
