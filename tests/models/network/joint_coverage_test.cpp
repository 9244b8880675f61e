// Intervals that left-out rows find too narrow are widened.
#include <doctest/doctest.h>

#include "models/network/bnn.h"
#include "models/table/scores.h"
#include "tests/oracles/random_matrices.h"

using namespace dma;

namespace {

struct ShiftedTable {
  Eigen::MatrixXd x, y;
};

// A line whose every eighth row lies three higher: no tails have such a shape.
ShiftedTable shifted(Eigen::Index rows, std::uint64_t seed) {
  ShiftedTable t{oracle::random_matrix(rows, 2, seed), 0.2 * oracle::random_matrix(rows, 1, seed + 1)};
  t.y += t.x.col(0);
  for (Eigen::Index n = 0; n < rows; n += 8) t.y(n, 0) += 3;
  return t;
}

}  // namespace

TEST_CASE("joint coverage: rows of which one in eight is shifted are inside 95 % intervals, learned or fresh") {
  const ShiftedTable table = shifted(300, 1), fresh = shifted(2000, 5);
  Bnn net({.layers = {2, 10, 1}, .members = 1});
  net.fit(table.x, table.y);
  CHECK(scores_of(*net.left_out(), table.y)[0].coverage_95 >= 0.94);
  CHECK(scores_of(net.predict(fresh.x), fresh.y)[0].coverage_95 >= 0.92);
  Bnn again(net.options());
  again.restore(net.memory(true));
  CHECK(again.predict(fresh.x).quantile(0.975) == net.predict(fresh.x).quantile(0.975));
}

TEST_CASE("joint coverage: noise that the tails describe is left as it is") {
  const Eigen::MatrixXd x = oracle::random_matrix(300, 2, 7), y = x.col(0) + 0.5 * oracle::random_matrix(300, 1, 8);
  Bnn net({.layers = {2, 10, 1}, .members = 1});
  net.fit(x, y);
  const double sd = net.predict(x).sd.mean();
  CHECK(sd > 0.45);
  CHECK(sd < 0.57);
}
