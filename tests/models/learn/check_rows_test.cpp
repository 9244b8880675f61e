#include "models/learn/check_rows.h"

#include <doctest/doctest.h>

#include <cmath>

using namespace dma;

namespace {

TableRows three_rows() { return {Eigen::MatrixXd::Ones(3, 2), Eigen::MatrixXd::Ones(3, 1)}; }

}  // namespace

TEST_CASE("check rows: as many of targets as of inputs, as many targets as outputs, and numbers alone") {
  CHECK_NOTHROW(check_rows(three_rows(), 1));
  CHECK_THROWS_WITH_AS(check_rows({}, 1), "fit: there are no rows", Error);
  CHECK_THROWS_WITH_AS(check_rows(three_rows(), 2), "fit: the targets have 1 columns but the network 2 outputs", Error);
  TableRows rows = three_rows();
  rows.targets.conservativeResize(2, 1);
  CHECK_THROWS_WITH_AS(check_rows(rows, 1), "fit: 3 rows of inputs but 2 of targets", Error);
  for (const double value : {std::nan(""), double{HUGE_VAL}}) {
    rows = three_rows();
    rows.inputs(1, 1) = value;
    CHECK_THROWS_WITH_AS(check_rows(rows, 1), "fit: the data hold a value that is not a finite number", Error);
    rows = three_rows();
    rows.targets(2, 0) = value;
    CHECK_THROWS_AS(check_rows(rows, 1), Error);
  }
}

TEST_CASE("check rows: weights of 0 and more, one for every row, one of them above 0") {
  const auto check = [](std::initializer_list<double> weights) {
    check_weights(Eigen::Map<const Eigen::VectorXd>(weights.begin(), std::ssize(weights)), 3);
  };
  CHECK_NOTHROW(check({0, 2, 1e-100}));
  CHECK_THROWS_WITH_AS(check({1, 2}), "2 weights are given for 3 rows; one for every row is expected", Error);
  CHECK_THROWS_WITH_AS(check({1, -1, 1}), "row 2 has a weight of -1; 0 or a number from 1e-100 to 1e+100 is expected",
                       Error);
  CHECK_THROWS_AS(check({1, 1, std::nan("")}), Error);
  CHECK_THROWS_AS(check({1, 1, 1e101}), Error);
  CHECK_THROWS_WITH_AS(check({0, 0, 0}), "all weights are 0; at least one row to learn from is expected", Error);
  CHECK(rows_that_count(Eigen::Vector4d(0, 2, 0, 1e-100)) == std::vector<Eigen::Index>{1, 3});
}

TEST_CASE("check rows: rows that are prepared can be multiplied, and fit the first layer") {
  Eigen::MatrixXd x = Eigen::MatrixXd::Ones(3, 2);
  const Eigen::MatrixXd y = Eigen::MatrixXd::Ones(3, 1);
  CHECK_NOTHROW(check_prepared(x, y, 2));
  CHECK_NOTHROW(check_prepared(x, y, 0));
  CHECK_THROWS_WITH_AS(check_prepared(x, y, 3), "fit: the inputs make 2 features but the first layer has 3", Error);
  x(0, 1) = 1e200;
  CHECK_THROWS_WITH_AS(check_prepared(x, y, 2), doctest::Contains("overflow when they are multiplied"), Error);
}

TEST_CASE("check rows: the same rows have the same checksum, others another") {
  const TableRows rows = three_rows();
  CHECK(checksum_of(rows) == checksum_of(three_rows()));
  TableRows moved = rows, weighted = rows, turned{rows.inputs.reshaped(2, 3), rows.targets};
  moved.inputs(2, 1) = std::nextafter(1.0, 2.0);
  weighted.weights = Eigen::VectorXd::Ones(3);
  for (const TableRows& other : {moved, weighted, turned}) CHECK(checksum_of(other) != checksum_of(rows));
}
