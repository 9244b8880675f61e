// Intervals that left-out rows find too narrow are widened; rows that the others do not predict are set aside.
#include <doctest/doctest.h>

#include <cmath>

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

constexpr Eigen::Index kTableRows = 300;
const BnnOptions kSmallNet{.layers = {3, 8, 1}, .members = 1};
const LearnOptions kFewEpochs{.epochs = 25};

Eigen::MatrixXd bent_plane(const Eigen::MatrixXd& x) {
  return 20 + 3 * (2 * x.col(0)).array().sin() + 2 * x.col(1).array();
}

// A curve with noise, of which every so many rows are made wrong: times 50, or 100 standard deviations of y higher.
struct WrongTable {
  Eigen::MatrixXd x = oracle::random_matrix(kTableRows, 3, 21);
  Eigen::MatrixXd y = bent_plane(x) + 0.5 * oracle::random_matrix(kTableRows, 1, 22);
  std::vector<Eigen::Index> wrong, right;
  WrongTable(Eigen::Index every, bool times) {
    const double sd = std::sqrt((y.array() - y.mean()).square().mean());
    for (Eigen::Index n = 0; n < kTableRows; ++n) {
      const bool is_wrong = every > 0 && n % every == every / 2;
      (is_wrong ? wrong : right).push_back(n);
      if (is_wrong) y(n, 0) = times ? 50 * y(n, 0) : y(n, 0) + 100 * sd;
    }
  }
};

// Noise of sd 0.1 to 10, of Student's t with 3 degrees, log-normal; and one row in twenty that is 1, all others 0.
Eigen::MatrixXd odd_targets(int kind, const Eigen::MatrixXd& x, std::uint64_t seed) {
  const Eigen::MatrixXd z = oracle::random_matrix(x.rows(), 4, seed);
  const Eigen::ArrayXd line = 2 * x.col(0).array(), one = z.col(0).array();
  if (kind == 0) return line + (2.3 * x.col(1).array().max(-1.0).min(1.0)).exp() * one;
  if (kind == 1) return line + one / (z.rightCols(3).rowwise().squaredNorm().array() / 3).sqrt();
  if (kind == 2) return line + one.exp();
  return (one > 1.645).cast<double>();
}

}  // namespace

TEST_CASE("far rows: those that were made wrong are set aside, and the fit is that of the others") {
  const Eigen::MatrixXd fresh = oracle::random_matrix(2000, 3, 23),
                        targets = bent_plane(fresh) + 0.5 * oracle::random_matrix(2000, 1, 24);
  const WrongTable clean(0, true);
  Bnn known(kSmallNet);
  CHECK(known.fit(clean.x, clean.y, kFewEpochs).far.empty());
  const Scores expected = scores_of(known.predict(fresh), targets)[0];
  for (const Eigen::Index every : {100, 50, 20})
    for (const bool times : {true, false}) {
      CAPTURE(every);
      CAPTURE(times);
      const WrongTable table(every, times);
      Bnn net(kSmallNet), others(kSmallNet);
      CHECK(net.fit(table.x, table.y, kFewEpochs).far == table.wrong);
      others.fit(table.x(table.right, Eigen::all), table.y(table.right, Eigen::all), kFewEpochs);
      const Prediction p = net.predict(fresh);
      CHECK(p.quantile(0.9) == others.predict(fresh).quantile(0.9));
      const Scores found = scores_of(p, targets)[0];
      MESSAGE("RMSE " << found.rmse << ", without wrong rows " << expected.rmse << "; coverage " << found.coverage_95);
      CHECK(found.rmse < 1.1 * expected.rmse);
      CHECK(found.coverage_95 > 0.93);
      CHECK(found.coverage_95 < 0.985);
    }
}

TEST_CASE("far rows: loud, heavy-tailed, skewed and rare targets are predicted as well as if all rows were learned") {
  for (const int kind : {0, 1, 2, 3}) {
    CAPTURE(kind);
    const Eigen::MatrixXd x = oracle::random_matrix(kTableRows, 3, 31), fresh = oracle::random_matrix(4000, 3, 33),
                          y = odd_targets(kind, x, 32), targets = odd_targets(kind, fresh, 34);
    Bnn net(kSmallNet), all(kSmallNet);
    const std::size_t far = net.fit(x, y, kFewEpochs).far.size();
    int first_epochs = 0;
    all.fit(x, y, kFewEpochs, [&](const BnnEpoch& e) { return (first_epochs += e.record.epoch == 1) < 2; });
    const Scores found = scores_of(net.predict(fresh), targets)[0];
    const Scores expected = scores_of(all.predict(fresh), targets)[0];
    MESSAGE(far << " far rows: RMSE " << found.rmse << " (all rows: " << expected.rmse << "), log-likelihood "
                << found.log_likelihood << " (" << expected.log_likelihood << "), coverage " << found.coverage_95
                << " (" << expected.coverage_95 << ")");
    CHECK(far <= 3);
    CHECK(found.rmse < 1.01 * expected.rmse);
    CHECK(found.log_likelihood > expected.log_likelihood - 0.02);
    CHECK(found.coverage_95 > expected.coverage_95 - 0.02);
  }
}

TEST_CASE("far rows: a fit interrupted while it goes without them ends as one that was not") {
  const WrongTable table(50, true);
  Bnn whole(kSmallNet), parts(kSmallNet), restored(kSmallNet);
  whole.fit(table.x, table.y, kFewEpochs);
  int first_epochs = 0;
  const FitReport stopped = parts.fit(table.x, table.y, kFewEpochs, [&](const BnnEpoch& e) {
    first_epochs += e.record.epoch == 1;
    return first_epochs < 2;  // of the second fit
  });
  CHECK(stopped.interrupted);
  CHECK(stopped.far.empty());
  restored.restore(parts.memory(false), kFewEpochs);
  for (Bnn* net : {&parts, &restored, &whole}) {  // and a finished fit stays what it is
    CHECK(net->fit(table.x, table.y, kFewEpochs).far == table.wrong);
    CHECK(net->predict(table.x).quantile(0.9) == whole.predict(table.x).quantile(0.9));
  }
}

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
