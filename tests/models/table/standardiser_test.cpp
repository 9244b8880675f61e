#include "models/table/standardiser.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "tests/oracles/relative.h"

using namespace dma;

namespace {

// Mean 0, standard deviation 1 and back again, without a number that is not finite on the way.
void check_column(const Eigen::VectorXd& column) {
  const Standardiser s = Standardiser::of(column);
  REQUIRE(std::isfinite(s.shift(0)));
  REQUIRE(std::isfinite(s.scale(0)));
  REQUIRE(s.scale(0) > 0);
  const Eigen::MatrixXd z = s.apply(column);
  CHECK(z.allFinite());
  CHECK(std::abs(z.mean()) < 1e-9);
  CHECK(z.norm() / std::sqrt(static_cast<double>(z.rows())) == oracle::relative(1, 1e-9));
  const Eigen::MatrixXd back = s.undo(z);
  for (Eigen::Index i = 0; i < column.size(); ++i)
    CHECK(std::abs(back(i, 0) / s.scale(0) - column(i) / s.scale(0)) < 1e-9 * (1 + std::abs(s.shift(0) / s.scale(0))));
}

}  // namespace

TEST_CASE("standardiser: columns of any magnitude") {
  const Eigen::VectorXd base{{1, -2, 0.5, 3, 1.5}};
  for (const double magnitude : {1.0, 1e155, 1e200, 5e307, 1e-155, 1e-160, 1e-200, 1e-300}) {
    CAPTURE(magnitude);
    check_column(base * magnitude);
    check_column((base.array() + 1000).matrix() * (magnitude / 1000));
  }
  const double largest = 0.99 * std::numeric_limits<double>::max();
  check_column(Eigen::VectorXd{{largest, -largest, largest, -largest}});
  check_column(Eigen::VectorXd{{largest, largest, largest, -largest}});
  check_column(Eigen::VectorXd{{largest, largest, -largest, -largest, -largest}});  // a mean that is not large itself
}

TEST_CASE("standardiser: one huge outlier") {
  Eigen::VectorXd column = Eigen::VectorXd::LinSpaced(100, 0, 1);
  column(40) = 1e308;
  check_column(column);
}

TEST_CASE("standardiser: a constant column, of whatever value, is only shifted") {
  for (const double value : {0.0, 5.0, -0.1, 1e308, 1e-300, 5e-324}) {
    const Standardiser s = Standardiser::of(Eigen::MatrixXd::Constant(7, 1, value));
    CHECK(s.shift(0) == doctest::Approx(value));
    CHECK(s.scale(0) == 1);
    CHECK(s.apply(Eigen::MatrixXd::Constant(2, 1, value)).cwiseAbs().maxCoeff() <= 1e-12 * std::abs(value));
  }
}
