// The linear model beside a network learned jointly: engine/learn/gaussian/mixture.cpp.
#include <doctest/doctest.h>

#include <cmath>

#include "engine/learn/gaussian/ensemble.h"
#include "models/network/bnn.h"
#include "models/network/network_graph.h"
#include "tests/oracles/random_matrices.h"
#include "tests/oracles/scores.h"

using namespace dma;

namespace {

// Products of many small causes: most rows are low with little noise, a few high with much.
Eigen::MatrixXd skewed(const Eigen::MatrixXd& x, std::uint64_t seed) {
  const Eigen::MatrixXd noise = oracle::random_matrix(x.rows(), 1, seed);
  return oracle::filled(x.rows(),
                        [&](Eigen::Index n) { return std::exp(x(n, 0) + 0.2 * x(n, 1) * x(n, 2) + 0.5 * noise(n)); });
}

}  // namespace

TEST_CASE("linear baseline: on skewed targets its squared error is that of least squares, not of the quiet rows") {
  for (const std::uint64_t seed : {2u, 3u}) {
    const Eigen::MatrixXd x = oracle::random_matrix(200, 5, 10 * seed),
                          fresh = oracle::random_matrix(1000, 5, 10 * seed + 1);
    const Eigen::MatrixXd y = skewed(x, 10 * seed + 2), truth = skewed(fresh, 10 * seed + 3);
    const double of_line = oracle::rmse(oracle::on_line(oracle::line_through(x, y), fresh), truth);
    Bnn net({.layers = {5, 8, 1}, .neighbours = false, .members = 1});
    net.fit(x, y);
    CHECK(oracle::rmse(net.predict(fresh).mean, truth) < 1.05 * of_line);
    // The linear model itself, without a mixture: without the rule 1.29 and 1.08 times as much.
    Ensemble mixed(network_family({.shape = {.layers = {5, 2, 1}, .slopes = {0.1}}}), {.mixture = {.epochs = 5}});
    mixed.fit({x, y});
    const Eigen::MatrixXd by_baseline = oracle::on_line(mixed.mixture().memory().simple->state.mean, fresh);
    CHECK(oracle::rmse(by_baseline, truth) < 1.05 * of_line);
  }
}
