#include "models/network/bnn.h"

#include <doctest/doctest.h>

#include <cmath>

#include "engine/inspect/inspect.h"
#include "engine/support/parallel.h"
#include "engine/support/text.h"
#include "factors/standard_registry.h"
#include "models/table/scores.h"
#include "tests/oracles/random_matrices.h"
#include "tests/oracles/relative.h"
#include "tests/oracles/saved_network.h"

namespace {

using namespace dma;

struct Sine {
  Eigen::MatrixXd x, y;
  explicit Sine(int rows) : x(rows, 1), y(rows, 1) {
    const Eigen::MatrixXd noise = oracle::random_matrix(rows, 1, 37);
    for (int i = 0; i < rows; ++i) {
      x(i, 0) = -3 + 6.0 * i / (rows - 1);
      y(i, 0) = 10 + 5 * std::sin(x(i, 0)) + 0.2 * noise(i);
    }
  }
};

Bnn fitted(std::size_t members = 1) {
  const Sine data(80);
  RegressionSettings settings = regression_settings(1, {20}, 1, 80);
  settings.network.members = members;
  settings.fit.epochs = 40;
  Bnn net(settings.network);
  net.fit(data.x, data.y, settings.fit);
  return net;
}

}  // namespace

TEST_CASE("bnn: the regression settings fit a curve, learn its noise, and widen beyond the data") {
  Bnn net = fitted();
  const Sine data(80);
  const auto [mean, sd] = net.predict(data.x);
  CHECK(std::sqrt((mean - data.y).array().square().mean()) < 0.6);
  CHECK(net.noise()[0] > 0.05);
  CHECK(net.noise()[0] < 1.0);
  const Prediction far = net.predict(Eigen::MatrixXd::Constant(1, 1, 12.0));
  CHECK(far.epistemic_sd(0, 0) > 2 * net.predict(Eigen::MatrixXd::Zero(1, 1)).epistemic_sd(0, 0));
}

TEST_CASE("bnn: predictions split into epistemic and noise variance and have monotone quantiles") {
  Bnn net = fitted(3);
  const Prediction p = net.predict(Sine(11).x);
  const Eigen::MatrixXd sum = (p.epistemic_sd.array().square() + p.noise_sd.array().square()).sqrt();
  CHECK((sum - p.sd).cwiseAbs().maxCoeff() < 1e-12 * p.sd.maxCoeff());
  CHECK(p.components.size() >= 3);
  const Eigen::MatrixXd low = p.quantile(0.025), middle = p.quantile(0.5), high = p.quantile(0.975);
  CHECK(((low.array() < middle.array()) && (middle.array() < high.array())).all());
  CHECK((p.cumulative(low).array() - 0.025).abs().maxCoeff() < 1e-12);
  CHECK((p.cumulative(high).array() - 0.975).abs().maxCoeff() < 1e-12);
}

TEST_CASE("bnn: several outputs and biases make the graph they should") {
  const Bnn net({.layers = {3, 4, 2}, .noise = {0.1, 0.2}, .bias = true, .method = "dma"});
  CHECK(net.weights(0).size() == 3 * 4 + 4);
  CHECK(net.weights(1).size() == 4 * 2 + 2);
  CHECK(net.noise() == std::vector<double>{0.1, 0.2});
  CHECK(net.graph().find_variable("W1").value < net.graph().variables().size());
  const std::string dot = to_dot(net.graph(), standard_registry());
  CHECK(dot.find("W1 [12]") != std::string::npos);
  CHECK(dot.find("leaky_relu [4]") != std::string::npos);
}

TEST_CASE("bnn: the paper's prior: means of variance 1/fan_in, variances 1/(layers fan_in)") {
  const Bnn net(paper_options({400, 50, 1}));
  const LayerPrior& prior = net.prior(0);
  double square = 0;
  for (const double m : prior.mean) square += m * m / static_cast<double>(prior.mean.size());
  CHECK(square * 400 == oracle::relative(1, 0.05));  // 20000 draws: standard error 0.01
  CHECK(prior.variance[0] == doctest::Approx(1.0 / (2 * 400)));
}

TEST_CASE("bnn: a network that has learned some rows refuses others and goes on with its own") {
  const Sine data(40);
  const Eigen::MatrixXd other = -data.y;
  for (const char* method : {"joint", "hybrid"}) {
    Bnn net({.layers = {1, 3, 1}, .method = method, .members = 1});
    const LearnOptions fit{.batches = 2, .epochs = 3};
    net.fit(data.x, data.y, fit);
    const Eigen::MatrixXd learned = net.predict(data.x).mean;
    CHECK_THROWS_WITH_AS(
        net.fit(data.x, other, fit),
        "fit: this network has learned other rows than these 40; make a new one for them, or add them with update()",
        Error);
    CHECK_THROWS_AS(net.fit(data.x.topRows(20), data.y.topRows(20), fit), Error);
    CHECK(net.predict(data.x).mean == learned);
    net.fit(data.x, data.y, fit);
  }
  Bnn updated({.layers = {1, 3, 1}, .members = 1});
  updated.fit(data.x, data.y, {.epochs = 3});
  updated.update(data.x, other, 40);
  CHECK_THROWS_AS(updated.fit(data.x, data.y), Error);
}

TEST_CASE("bnn: many threads may ask a network at once, and all hear the same") {
  const Sine data(30);
  for (const char* method : {"joint", "hybrid"}) {
    Bnn net({.layers = {1, 4, 1}, .method = method, .members = 2});
    net.fit(data.x, data.y, {.batches = 2, .epochs = 2, .jobs = 2});
    const Bnn& asked = net;
    constexpr std::size_t kThreads = 4;
    std::vector<Eigen::MatrixXd> means(kThreads);
    std::vector<std::vector<Gaussian>> weights(kThreads);
    parallel_for(kThreads, kThreads, [&](std::size_t k) {
      weights[k] = asked.weights(1, 1);
      means[k] = asked.predict(data.x).mean;
      (void)asked.noise();
      (void)asked.left_out();
    });
    for (std::size_t k = 1; k < kThreads; ++k) {
      CHECK(means[k] == means[0]);
      CHECK(weights[k] == weights[0]);
    }
  }
}

TEST_CASE("bnn: weights of rows: 1 changes nothing, 0 leaves rows out, more make certain, and the heavier rows win") {
  const Sine data(80);
  RegressionSettings settings = regression_settings(1, {20}, 1, 80);
  settings.network.members = 1, settings.fit.epochs = 30;
  const Eigen::MatrixXd at = Eigen::VectorXd::LinSpaced(9, -3, 3);
  const auto learned = [&](const Sine& rows, const Eigen::VectorXd& weights) {
    Bnn net(settings.network);
    net.fit(rows.x, rows.y, settings.fit, {}, weights);
    return net;
  };
  const Prediction plain = learned(data, {}).predict(at), ones = learned(data, Eigen::VectorXd::Ones(80)).predict(at);
  CHECK(plain.mean == ones.mean);
  CHECK(plain.sd == ones.sd);
  Sine half = data;
  half.x = data.x.topRows(40), half.y = data.y.topRows(40);
  Eigen::VectorXd weights = Eigen::VectorXd::Zero(80);
  weights.head(40) = Eigen::VectorXd::LinSpaced(40, 0.5, 2);
  CHECK(learned(data, weights).predict(at).mean == learned(half, weights.head(40)).predict(at).mean);
  const Prediction fourfold = learned(data, Eigen::VectorXd::Constant(80, 4)).predict(at);
  CHECK(fourfold.epistemic_sd.mean() < 0.8 * plain.epistemic_sd.mean());

  Sine torn(80);  // each input with two targets, 0 and 1
  for (Eigen::Index i = 0; i < 80; ++i) torn.x(i, 0) = static_cast<double>(i % 8), torn.y(i, 0) = i < 40 ? 0 : 1;
  weights << Eigen::VectorXd::Constant(40, 9), Eigen::VectorXd::Constant(40, 3);
  const Bnn net = learned(torn, weights);
  CHECK((net.predict(torn.x.topRows(8)).mean.array() - 0.25).abs().maxCoeff() < 0.03);
  CHECK(oracle::read_again(net).predict(torn.x).sd == net.predict(torn.x).sd);

  weights(3) = -1;
  CHECK_THROWS_WITH_AS(learned(data, weights),
                       "row 4 has a weight of -1; 0 or a number from 1e-100 to 1e+100 is expected", Error);
  CHECK_THROWS_WITH_AS(learned(data, Eigen::VectorXd::Ones(7)),
                       "7 weights are given for 80 rows; one for every row is expected", Error);
  settings.network.method = "hybrid";
  CHECK_THROWS_WITH_AS(learned(data, weights.cwiseAbs()),
                       "weights of rows are known to joint learning only; use method \"joint\", or leave them away",
                       Error);
}

TEST_CASE("bnn: wrong options are refused") {
  CHECK_THROWS_WITH_AS(Bnn({.layers = {3}}), "layers: at least inputs and outputs are expected, 1 given", Error);
  CHECK_THROWS_WITH_AS(Bnn({.layers = {1, 100001, 1}}), "layers: a width of 100001 is given; 1 to 100000 is expected",
                       Error);
  CHECK_THROWS_WITH_AS(Bnn({.layers = {3, 1}, .noise = -1.0}), "noise is -1; a positive standard deviation is expected",
                       Error);
  CHECK_THROWS_AS(Bnn({.layers = {3, 4, 4, 1}, .slopes = {0.1, 0.2, 0.3}}), Error);
  CHECK_THROWS_AS(Bnn({.layers = {2, 4, 1}, .slopes = 0.0}), Error);
  Bnn net({.layers = {2, 1}, .noise = 1.0});
  CHECK_THROWS_WITH_AS(net.fit(Eigen::MatrixXd::Zero(3, 2), Eigen::MatrixXd::Zero(2, 1)),
                       "fit: 3 rows of inputs but 2 of targets", Error);
  CHECK_THROWS_AS(net.predict(Eigen::MatrixXd::Zero(3, 5)), Error);
}
