#include "tools/dma/page/importance.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "tests/oracles/random_matrices.h"
#include "tests/oracles/relative.h"
#include "tools/dma/page/effort.h"

using dma::report::permutation_importance;

namespace {

// Root mean square error of 3 a - b^2 for targets of 3 a - b^2 + 0.1; and a second output that looks at b alone.
Eigen::VectorXd loss_of(const Eigen::MatrixXd& inputs, const Eigen::MatrixXd& before) {
  const auto f = [](const Eigen::MatrixXd& x) { return (3 * x.col(0).array() - x.col(1).array().square()).eval(); };
  Eigen::VectorXd loss(2);
  loss(0) = std::sqrt((f(inputs) - f(before) - 0.1).square().mean());
  loss(1) = std::sqrt((inputs.col(1) - before.col(1)).squaredNorm() / static_cast<double>(inputs.rows()));
  return loss;
}

}  // namespace

TEST_CASE("importance: mean and deviation are those of all orders, enumerated") {
  const Eigen::MatrixXd x = dma::oracle::random_matrix(4, 3, 7);
  constexpr int kShuffles = 20'000;
  const auto found = permutation_importance(
      x, {{0}, {1}, {2}}, [&](const Eigen::MatrixXd& some) { return loss_of(some, x); }, kShuffles, 5);
  CHECK(found.before(0) == doctest::Approx(0.1));
  for (Eigen::Index column = 0; column < 2; ++column)
    for (Eigen::Index output = 0; output < 2; ++output) {
      std::vector<Eigen::Index> order = {0, 1, 2, 3};
      double sum = 0, squares = 0;
      do {
        Eigen::MatrixXd changed = x;
        for (Eigen::Index n = 0; n < 4; ++n) changed(n, column) = x(order[static_cast<std::size_t>(n)], column);
        const double rise = loss_of(changed, x)(output) - found.before(output);
        sum += rise, squares += rise * rise;
      } while (std::next_permutation(order.begin(), order.end()));
      const double mean = sum / 24, sd = std::sqrt(squares / 24 - mean * mean);
      const auto& one = found.inputs[static_cast<std::size_t>(column)][static_cast<std::size_t>(output)];
      CHECK(std::abs(one.mean - mean) <= 5 * sd / std::sqrt(kShuffles));
      CHECK(one.sd == dma::oracle::relative(sd, 0.05));
    }
}

TEST_CASE("importance: a column that is not looked at has exactly none; the same seed gives the same numbers") {
  const Eigen::MatrixXd x = dma::oracle::random_matrix(50, 3, 8);
  const auto loss = [&](const Eigen::MatrixXd& some) { return loss_of(some, x); };
  const std::vector<std::vector<Eigen::Index>> each = {{0}, {1}, {2}};
  const auto found = permutation_importance(x, each, loss, 5, 1), again = permutation_importance(x, each, loss, 5, 1),
             other = permutation_importance(x, each, loss, 5, 2);
  CHECK(found.inputs[2][0].mean == 0);
  CHECK(found.inputs[2][0].sd == 0);
  CHECK(found.inputs[0][1].mean == 0);
  CHECK(found.inputs[0][0].mean == again.inputs[0][0].mean);
  CHECK(found.inputs[0][0].mean != other.inputs[0][0].mean);
  // Columns that are shuffled together keep the values of a row together.
  const auto both = permutation_importance(x, {{2}, {0, 1}}, loss, 5, 1);
  CHECK(both.inputs.size() == 2);
  CHECK(both.inputs[0][0].mean == 0);
  Eigen::MatrixXd twins = x;
  twins.col(1) = twins.col(0);
  const auto same = permutation_importance(
      twins, {{0, 1}},
      [&](const Eigen::MatrixXd& some) {
        return Eigen::VectorXd::Constant(1, (some.col(0) - some.col(1)).norm()).eval();
      },
      5, 1);
  CHECK(same.inputs[0][0].mean == 0);
}

TEST_CASE("importance: rows are drawn without repetition, in order, each as often as any other") {
  using dma::report::sample_rows;
  CHECK(sample_rows(3, 5, 1) == std::vector<Eigen::Index>{0, 1, 2});
  std::vector<int> drawn(10);
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    const auto rows = sample_rows(10, 4, seed);
    REQUIRE(rows.size() == 4);
    CHECK(std::ranges::is_sorted(rows));
    CHECK(std::ranges::adjacent_find(rows) == rows.end());
    for (const Eigen::Index row : rows) ++drawn[static_cast<std::size_t>(row)];
  }
  for (const int times : drawn) CHECK(std::abs(times - 800) < 5 * std::sqrt(2000 * 0.4 * 0.6));
}

TEST_CASE("importance: where columns are too many, those that go with the predictions are looked at") {
  using dma::report::effort_for;
  const Eigen::MatrixXd x = dma::oracle::random_matrix(200, 20, 9);
  const Eigen::MatrixXd predicted = 1e200 * (x.col(7) - 0.5 * x.col(3));
  CHECK(dma::report::columns_to_shuffle(x, predicted, 2) == std::vector<Eigen::Index>{3, 7});
  CHECK(dma::report::columns_to_shuffle(x, predicted, 20).size() == 20);
  const auto small = effort_for(1e5, 150, 4, 1), wide = effort_for(1e9, 1000, 5000, 1),
             huge = effort_for(1e300, 100'000, 10, 3);
  CHECK((small.rows == 150 && small.columns == 4 && small.dependence_rows == 100));
  CHECK((wide.rows == 50 && wide.columns >= 1 && wide.columns < 5000));
  CHECK((huge.rows == 50 && huge.columns == 1 && huge.dependence_rows == 20));
}
