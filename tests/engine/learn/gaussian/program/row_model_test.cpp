#include "tests/engine/learn/gaussian/learned_graphs.h"

using oracle::LinearRows, oracle::PlainMatrix, oracle::largest_difference, oracle::random_matrix;

TEST_CASE("row model: some columns of the rows, with constants among them, are the model of those values") {
  const auto model = std::make_shared<const LinearRows>(4, 2);
  const RowsOfColumns some(model, {2, -1, 0, -1}, {0.7, -3});
  const Matrix rows = random_matrix(6, 3, 1);
  Matrix read(6, 4);
  read.col(0) = rows.col(2), read.col(2) = rows.col(0);
  read.col(1).setConstant(0.7), read.col(3).setConstant(-3);
  CHECK(some.scalars() == model->scalars());
  CHECK(some.outputs() == 2);
  const Vector m = random_matrix(10, 1, 2), variance = Vector::LinSpaced(10, 0.5, 2);
  Matrix f, gains, expected, expected_gains;
  model->linearise(m, read, expected, expected_gains);
  some.evaluate(m, rows, f);
  CHECK(f == expected);
  some.linearise(m, rows, f, gains);
  CHECK(f == expected);
  CHECK(gains == expected_gains);
  const PlainMatrix j = expected_gains, kernel = j * oracle::diagonal_matrix(PlainMatrix(variance)) * j.transpose();
  CHECK(largest_difference(some.gains(m, rows, variance, f)->kernel(variance), kernel) < 1e-12);
  CHECK(f == expected);
  PlainMatrix by_units(12, 10);
  for (const UnitGains& unit : some.units(m, rows, f))
    for (std::size_t i = 0; i < unit.scalars.size(); ++i)
      for (Index k = 0; k < 2; ++k)
        for (Index n = 0; n < 6; ++n)
          by_units(static_cast<std::size_t>(k * 6 + n), static_cast<std::size_t>(unit.scalars[i])) =
              unit.up(n, k) * unit.inputs(n, static_cast<Index>(i));
  CHECK(largest_difference(by_units, expected_gains) < 1e-15);
  CHECK(f == expected);
  CHECK(some.first_fault(m, rows).empty());
}

TEST_CASE("row model: scalars that are held keep their values, and the gains are those of the others") {
  const LinearRows model(3, 1);
  const Vector all = random_matrix(4, 1, 1), free = random_matrix(2, 1, 2);
  const PartialRows some(model, all, {3, 1});
  const Matrix rows = random_matrix(5, 3, 3);
  Vector whole = all;
  whole(3) = free(0), whole(1) = free(1);
  Matrix f, gains, expected, expected_gains;
  model.linearise(whole, rows, expected, expected_gains);
  CHECK(some.scalars() == 2);
  some.evaluate(free, rows, f);
  CHECK(f == expected);
  some.linearise(free, rows, f, gains);
  CHECK(f == expected);
  REQUIRE(gains.cols() == 2);
  CHECK(gains.col(0) == expected_gains.col(3));
  CHECK(gains.col(1) == expected_gains.col(1));
}
