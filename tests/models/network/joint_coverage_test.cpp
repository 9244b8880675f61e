// Intervals that left-out rows find too narrow are widened; rows that the others do not predict are set aside.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "models/network/bnn.h"
#include "models/table/scores.h"
#include "tests/oracles/random_matrices.h"
#include "tests/oracles/saved_network.h"
#include "tests/oracles/scores.h"

using namespace dma;

namespace {

struct ShiftedTable {
  Eigen::MatrixXd x, y;
};

// A line whose every eighth row lies three higher: no tails have such a shape.
ShiftedTable shifted(Eigen::Index rows, std::uint64_t seed) {
  const Eigen::MatrixXd x = oracle::random_matrix(rows, 2, seed), noise = oracle::random_matrix(rows, 1, seed + 1);
  return {x, oracle::filled(rows, [&](Eigen::Index n) { return 0.2 * noise(n) + x(n, 0) + (n % 8 == 0 ? 3 : 0); })};
}

constexpr Eigen::Index kTableRows = 200;
// Neighbours take four fifths of the time of a fit.
const BnnOptions kSmallNet{.layers = {3, 8, 1}, .neighbours = false, .members = 1},
    kWithNeighbours{.layers = {3, 8, 1}, .members = 1};
const LearnOptions kFewEpochs{.epochs = 25};

// With noise of sd 0.5.
Eigen::MatrixXd bent_plane(const Eigen::MatrixXd& x, std::uint64_t seed, double waves = 1.3) {
  const Eigen::MatrixXd noise = oracle::random_matrix(x.rows(), 1, seed);
  return oracle::filled(
      x.rows(), [&](Eigen::Index n) { return 20 + 3 * std::sin(waves * x(n, 0)) + 2 * x(n, 1) + 0.5 * noise(n); });
}

// A curve with noise, of which every so many rows are made wrong: times 50, or 100 standard deviations of y higher.
struct WrongTable {
  Eigen::MatrixXd x, y;
  std::vector<Eigen::Index> wrong, right;
  WrongTable(Eigen::Index every, bool times, Eigen::Index rows = kTableRows, double waves = 1.3)
      : x(oracle::random_matrix(rows, 3, 21)), y(bent_plane(x, 22, waves)) {
    const double mean = oracle::mean_of(y),
                 sd = oracle::rms(oracle::filled(rows, [&](Eigen::Index n) { return y(n) - mean; }));
    for (Eigen::Index n = 0; n < rows; ++n) {
      const bool is_wrong = every > 0 && n % every == every / 2;
      (is_wrong ? wrong : right).push_back(n);
      if (is_wrong) y(n, 0) = times ? 50 * y(n, 0) : y(n, 0) + 100 * sd;
    }
  }
};

// Noise of sd 0.1 to 10, of Student's t with 3 degrees, log-normal; and one row in twenty that is 1, all others 0.
Eigen::MatrixXd odd_targets(int kind, const Eigen::MatrixXd& x, std::uint64_t seed) {
  const Eigen::MatrixXd z = oracle::random_matrix(x.rows(), 4, seed);
  return oracle::filled(x.rows(), [&](Eigen::Index n) -> double {
    const double line = 2 * x(n, 0), one = z(n, 0);
    if (kind == 0) return line + std::exp(2.3 * std::clamp(x(n, 1), -1.0, 1.0)) * one;
    if (kind == 1) return line + one / std::sqrt((z(n, 1) * z(n, 1) + z(n, 2) * z(n, 2) + z(n, 3) * z(n, 3)) / 3);
    if (kind == 2) return line + std::exp(one);
    return one > 1.645 ? 1 : 0;
  });
}

}  // namespace

TEST_CASE("far rows: those that were made wrong are set aside, and the fit is that of the others") {
  const Eigen::MatrixXd fresh = oracle::random_matrix(2000, 3, 23), few = fresh.topRows(100),
                        targets = bent_plane(fresh, 24);
  const WrongTable clean(0, true);
  Bnn known(kSmallNet);
  CHECK(known.fit(clean.x, clean.y, kFewEpochs).far.empty());
  const Scores expected = scores_of(known.predict(fresh), targets)[0];
  const auto quantile_without_wrong_rows = [&](const BnnOptions& options, const WrongTable& table) {
    Bnn others(options);
    others.fit(oracle::chosen(table.x, table.right), oracle::chosen(table.y, table.right), kFewEpochs);
    return others.predict(few).quantile(0.9);
  };
  for (const Eigen::Index every : {100, 20}) {  // the right rows are the same in either way
    const Eigen::MatrixXd of_others = quantile_without_wrong_rows(kSmallNet, WrongTable(every, true));
    for (const bool times : {true, false}) {
      CAPTURE(every);
      CAPTURE(times);
      const WrongTable table(every, times);
      Bnn net(kSmallNet);
      CHECK(net.fit(table.x, table.y, kFewEpochs).far == table.wrong);
      CHECK(net.predict(few).quantile(0.9) == of_others);
      const Scores found = scores_of(net.predict(fresh), targets)[0];
      MESSAGE("RMSE " << found.rmse << ", without wrong rows " << expected.rmse << "; coverage " << found.coverage_95);
      CHECK(found.rmse < 1.1 * expected.rmse);
      CHECK(found.coverage_95 > 0.93);
      CHECK(found.coverage_95 < 0.985);
    }
  }
  const WrongTable waves(50, false, 100, 3);  // that neighbours know
  Bnn net(kWithNeighbours);
  const FitReport report = net.fit(waves.x, waves.y, kFewEpochs);
  CHECK(report.far == waves.wrong);
  CHECK(!report.neighbours.empty());
  CHECK(net.predict(few).quantile(0.9) == quantile_without_wrong_rows(kWithNeighbours, waves));
}

TEST_CASE("far rows: loud, heavy-tailed, skewed and rare targets are predicted as well as if all rows were learned") {
  for (const int kind : {0, 1, 2, 3}) {
    CAPTURE(kind);
    const Eigen::MatrixXd x = oracle::random_matrix(200, 3, 31), fresh = oracle::random_matrix(2000, 3, 33),
                          y = odd_targets(kind, x, 32), targets = odd_targets(kind, fresh, 34);
    const BnnOptions& options = kind == 2 ? kWithNeighbours : kSmallNet;  // once is enough
    Bnn net(options), all(options);
    int fits = 0;
    const auto far =
        net.fit(x, y, kFewEpochs, [&](const BnnEpoch& e) { return (fits += e.record.epoch == 1) > 0; }).far.size();
    if (fits > 1) {  // otherwise all rows were learned
      fits = 0;
      all.fit(x, y, kFewEpochs, [&](const BnnEpoch& e) { return (fits += e.record.epoch == 1) < 2; });
    }
    const Scores found = scores_of(net.predict(fresh), targets)[0];
    const Scores expected = scores_of((fits > 1 ? all : net).predict(fresh), targets)[0];
    MESSAGE(far << " far rows: RMSE " << found.rmse << " (all rows: " << expected.rmse << "), log-likelihood "
                << found.log_likelihood << " (" << expected.log_likelihood << "), coverage " << found.coverage_95
                << " (" << expected.coverage_95 << ")");
    CHECK(far <= 2);
    CHECK(found.rmse < 1.01 * expected.rmse);
    CHECK(found.log_likelihood > expected.log_likelihood - 0.02);
    CHECK(found.coverage_95 > expected.coverage_95 - 0.02);
  }
}

TEST_CASE("far rows: a fit interrupted while it goes without them ends as one that was not") {
  const WrongTable table(50, true, 100);
  Bnn whole(kSmallNet), parts(kSmallNet), restored(kSmallNet);
  whole.fit(table.x, table.y, kFewEpochs);
  int first_epochs = 0;
  const FitReport stopped = parts.fit(table.x, table.y, kFewEpochs, [&](const BnnEpoch& e) {
    first_epochs += e.record.epoch == 1;
    return first_epochs < 2;  // stops in the second fit
  });
  CHECK(stopped.interrupted);
  CHECK(stopped.far.empty());
  restored = oracle::read_network(kSmallNet, oracle::saved_network(parts, true));
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
  CHECK(oracle::read_again(net).predict(fresh.x).quantile(0.975) == net.predict(fresh.x).quantile(0.975));
}

TEST_CASE("joint coverage: noise that the tails describe is left as it is") {
  const Eigen::MatrixXd x = oracle::random_matrix(300, 2, 7), noise = oracle::random_matrix(300, 1, 8),
                        y = oracle::filled(300, [&](Eigen::Index n) { return x(n, 0) + 0.5 * noise(n); });
  Bnn net({.layers = {2, 10, 1}, .members = 1});
  net.fit(x, y);
  const double sd = net.predict(x).sd.mean();
  CHECK(sd > 0.45);
  CHECK(sd < 0.57);
}

TEST_CASE("exact targets: no row that rounding has changed is called impossible") {
  // Tenths, told by a column; one row is off by a tenth. Three values of a column. Fewer rows than neighbours take, and
  // more.
  for (const Eigen::Index rows : {20, 83})
    for (const bool few_values : {false, true}) {
      CAPTURE(rows);
      CAPTURE(few_values);
      const Eigen::MatrixXd drawn = oracle::random_matrix(rows, 2, 41);
      const Eigen::MatrixXd x = oracle::filled(rows, 2, [&](Eigen::Index n, Eigen::Index c) -> double {
        if (c == 1) return drawn(n, 1);
        return few_values ? static_cast<double>(n % 3) : std::round(100 + 40 * drawn(n, 0)) / 10;
      });
      const Eigen::MatrixXd y =
          oracle::filled(rows, [&](Eigen::Index n) { return few_values ? x(n, 0) / 7 : 24 - x(n, 0); });
      Bnn net({.layers = {2, 8, 1}, .members = 1});
      net.fit(x, y, kFewEpochs);
      const double step = few_values ? 1.0 / 7 : 0.1;
      const Eigen::MatrixXd changed = oracle::filled(rows, [&](Eigen::Index n) { return y(n) + step; });
      const Prediction p = net.predict(x);
      CHECK(oracle::rmse(p.mean, y) < 0.1 * step);
      CHECK(p.log_density(changed).minCoeff() > -50);
      CHECK(p.log_density(y).minCoeff() > 1);
    }
}
