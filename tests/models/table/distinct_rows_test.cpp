#include "models/table/distinct_rows.h"

#include <doctest/doctest.h>

#include "models/network/bnn.h"
#include "tests/oracles/random_matrices.h"

using namespace dma;

TEST_CASE("distinct rows: copies of measured rows are found, in any order") {
  Eigen::MatrixXd x(5, 2), y(5, 1);
  x << 1.5, 0, 2.5, 1, 1.5, 0, 3.5, 0, 2.5, 1;
  y << 7, 8, 7, 9, 8;
  const DistinctRows found = distinct_rows(x, y);
  CHECK(found.first == std::vector<Eigen::Index>{0, 1, 3});
  CHECK(found.number == std::vector<Eigen::Index>{0, 1, 0, 2, 1});
  CHECK(found.copies() == 2);
}

TEST_CASE(
    "distinct rows: equal inputs with different targets, and tables of few values, are observations of their own") {
  Eigen::MatrixXd x(4, 1), y(4, 1);
  x << 1, 2, 2, 3;
  y << 1, 2, 2.5, 3;
  CHECK(distinct_rows(x, y).copies() == 0);
  Eigen::MatrixXd codes(16, 2), sum(16, 1);
  for (Eigen::Index n = 0; n < 16; ++n) codes.row(n) << static_cast<double>(n % 2), static_cast<double>(n / 2 % 4);
  sum = codes.rowwise().sum();
  CHECK(distinct_rows(codes, sum).copies() == 0);
}

TEST_CASE("distinct rows: a table written down five times is learned as once") {
  const Eigen::MatrixXd once = oracle::random_matrix(40, 3, 1);
  const Eigen::MatrixXd y = once.col(0) + 0.5 * oracle::random_matrix(40, 1, 2);
  const Eigen::MatrixXd often = once.replicate(5, 1), y_often = y.replicate(5, 1),
                        fresh = oracle::random_matrix(50, 3, 3);
  Bnn net({.layers = {3, 10, 1}, .members = 1}), copied({.layers = {3, 10, 1}, .members = 1});
  net.fit(once, y);
  const FitReport report = copied.fit(often, y_often);
  CHECK(report.copies == 160);
  CHECK((net.predict(fresh).mean - copied.predict(fresh).mean).cwiseAbs().maxCoeff() < 1e-4);
  CHECK((net.predict(fresh).sd - copied.predict(fresh).sd).cwiseAbs().maxCoeff() < 1e-4);
  REQUIRE(copied.left_out());
  CHECK(copied.left_out()->mean.rows() == 200);
  CHECK(copied.left_out()->mean(7, 0) == copied.left_out()->mean(47, 0));
}

TEST_CASE("distinct rows: what rounding does to the rows is all that it does to the fit") {
  const Eigen::MatrixXd x = oracle::random_matrix(40, 3, 1), fresh = oracle::random_matrix(50, 3, 3);
  const Eigen::MatrixXd y = x.col(0) + 0.5 * oracle::random_matrix(40, 1, 2);
  Prediction expected;
  for (int k = 0; k < 24; ++k) {
    Bnn net({.layers = {3, 10, 1}, .members = 1});
    net.fit(x, y.array() * (1 + 1e-15 * k) + 1e-15 * k);
    const Prediction found = net.predict(fresh);
    if (k == 0) expected = found;
    CHECK((found.mean - expected.mean).cwiseAbs().maxCoeff() < 1e-9);
    CHECK((found.sd - expected.sd).cwiseAbs().maxCoeff() < 1e-9);
  }
}
