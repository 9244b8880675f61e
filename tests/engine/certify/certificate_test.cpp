#include "engine/certify/certify.h"

#include <doctest/doctest.h>

#include <Eigen/Dense>
#include <cmath>

#include "tests/oracles/relative.h"

using namespace dma;

TEST_CASE("certificate: a rate is the line of least squares through logarithms, with its standard error") {
  const std::vector<double> x = {1, 2, 4, 8, 16, 0, 3},
                            // The last two are not usable in a log fit.
      values = {3.1, 0.7, 0.22, 0.043, 0.0131, 5, -1};
  constexpr Eigen::Index kPoints = 5;
  Eigen::MatrixXd columns(kPoints, 2);
  Eigen::VectorXd logs(kPoints);
  for (Eigen::Index i = 0; i < kPoints; ++i) {
    columns.row(i) << 1, std::log(x[static_cast<std::size_t>(i)]);
    logs(i) = std::log(values[static_cast<std::size_t>(i)]);
  }
  const Eigen::Matrix2d inverse = (columns.transpose() * columns).inverse();
  const Eigen::Vector2d line = inverse * columns.transpose() * logs;
  const double residual = (logs - columns * line).squaredNorm();
  const Rate rate = fit_rate(x, values);
  CHECK(rate.exponent == oracle::relative(line(1), 1e-12));
  CHECK(rate.constant == oracle::relative(std::exp(line(0)), 1e-12));
  CHECK(rate.uncertainty == oracle::relative(std::sqrt(residual / (kPoints - 2) * inverse(1, 1)), 1e-9));
  CHECK(fit_rate({1, 2}, {1, 4}).uncertainty == kInfinity);
  CHECK(fit_rate({2, 2, 2}, {1, 4, 5}).constant == 0);
}
