#include "tools/dma/page/dependence.h"

#include <doctest/doctest.h>

#include "tests/oracles/random_matrices.h"
#include "tests/oracles/relative.h"

using dma::report::dependence_grid;
using dma::report::partial_dependence;
using dma::report::quantile_of;
using dma::report::Response;

TEST_CASE("dependence: the mean over rows, by hand") {
  const Eigen::MatrixXd rows = dma::oracle::random_matrix(30, 3, 3);
  const auto model = [](const Eigen::MatrixXd& x) {
    Response r{Eigen::MatrixXd(x.rows(), 2), Eigen::MatrixXd(x.rows(), 2)};
    r.mean.col(0) = x.col(1).array().square() + x.col(0).array() * x.col(2).array();
    r.mean.col(1) = x.col(1).array() * x.col(0).array();
    r.sd.col(0) = x.col(0).array().abs();
    r.sd.col(1) = x.col(1).array().abs();
    return r;
  };
  const Eigen::VectorXd grid = Eigen::Vector3d(-2, 0.5, 4);
  const auto found = partial_dependence(rows, 1, grid, model);
  for (Eigen::Index i = 0; i < 3; ++i) {
    double products = 0, first = 0, size = 0;
    for (Eigen::Index n = 0; n < 30; ++n)
      products += rows(n, 0) * rows(n, 2) / 30, first += rows(n, 0) / 30, size += std::abs(rows(n, 0)) / 30;
    CHECK(found.mean(i, 0) == doctest::Approx(grid(i) * grid(i) + products));
    CHECK(found.mean(i, 1) == doctest::Approx(grid(i) * first));
    CHECK(found.sd(i, 0) == doctest::Approx(size));
    CHECK(found.sd(i, 1) == doctest::Approx(std::abs(grid(i))));
  }
}

TEST_CASE("dependence: few values are the grid; of many, one stray value does not decide it") {
  CHECK(dependence_grid(Eigen::Vector4d(1, 0, 1, 0), 21) == Eigen::Vector2d(0, 1));
  Eigen::VectorXd many = Eigen::VectorXd::LinSpaced(1000, 0, 1);
  many(0) = -1e6;
  const Eigen::VectorXd grid = dependence_grid(many, 21);
  CHECK(grid.size() == 21);
  CHECK(grid(0) == dma::oracle::relative(0.01, 0.01));
  CHECK(grid(20) == dma::oracle::relative(0.99, 0.01));
  Eigen::VectorXd mostly_one = Eigen::VectorXd::Ones(5000);
  mostly_one.head(30) = Eigen::VectorXd::LinSpaced(30, 2, 3);
  CHECK(dependence_grid(mostly_one, 21)(20) == 3);
  Eigen::VectorXd far(100);
  for (Eigen::Index i = 0; i < 100; ++i) far(i) = (i < 50 ? -1.0 : 1.0) * (1.7e308 - 1e300 * static_cast<double>(i));
  CHECK(dependence_grid(far, 21).allFinite());
}

TEST_CASE("dependence: quantiles lie between neighbours") {
  CHECK(quantile_of({3, 1, 2}, 0.5) == 2);
  CHECK(quantile_of({3, 1, 2}, 0.25) == 1.5);
  CHECK(quantile_of({3, 1, 2}, 0) == 1);
  CHECK(quantile_of({3, 1, 2}, 1) == 3);
  CHECK(quantile_of({5}, 0.3) == 5);
}
