// The linear model beside a network learned jointly: models/network/joint_regression.cpp.
#include <doctest/doctest.h>

#include "models/network/bnn.h"
#include "tests/oracles/random_matrices.h"

using namespace dma;

namespace {

// Products of many small causes: most rows are low and quiet, few are high and loud.
Eigen::VectorXd skewed(const Eigen::MatrixXd& x, std::uint64_t seed) {
  const Eigen::ArrayXd noise = oracle::random_matrix(x.rows(), 1, seed).array();
  return (x.col(0).array() + 0.2 * x.col(1).array() * x.col(2).array() + 0.5 * noise).exp();
}

}  // namespace

TEST_CASE("linear baseline: of skewed targets the squared error is that of least squares, not that of the quiet rows") {
  for (const std::uint64_t seed : {4u, 5u}) {
    const Eigen::MatrixXd x = oracle::random_matrix(200, 5, 10 * seed),
                          fresh = oracle::random_matrix(1000, 5, 10 * seed + 1);
    const Eigen::MatrixXd y = skewed(x, 10 * seed + 2), truth = skewed(fresh, 10 * seed + 3);
    Bnn net({.layers = {5, 8, 1}, .members = 1});
    net.fit(x, y);
    Eigen::MatrixXd design(200, 6), fresh_design(1000, 6);
    design << x, Eigen::VectorXd::Ones(200);
    fresh_design << fresh, Eigen::VectorXd::Ones(1000);
    const Eigen::MatrixXd w = design.colPivHouseholderQr().solve(y);
    CHECK((net.predict(fresh).mean - truth).norm() < 1.05 * (fresh_design * w - truth).norm());
  }
}
