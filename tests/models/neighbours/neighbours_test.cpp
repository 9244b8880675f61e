#include "models/neighbours/neighbours.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include "tests/oracles/plain_matrix.h"
#include "tests/oracles/random_matrices.h"
#include "tests/oracles/relative.h"
#include "tests/oracles/scores.h"

namespace {

using namespace dma;
using oracle::filled, oracle::random_matrix, oracle::PlainMatrix;

std::vector<Index> counted(Index count) {
  std::vector<Index> all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), Index{0});
  return all;
}

// The covariance of values at rows and at others, entry by entry.
PlainMatrix covariance(const NeighbourKernel& k, const Matrix& rows, const Matrix& others) {
  return filled(rows.rows(), others.rows(), [&](Index i, Index j) {
    double square = 0;
    for (Index c = 0; c < rows.cols(); ++c) square += std::pow((rows(i, c) - others(j, c)) / k.lengthscales(c), 2);
    const double d = std::sqrt(5 * square);
    return k.signal * (1 + d + d * d / 3) * std::exp(-d);
  });
}

double square_between(const Matrix& rows, Index n, const Matrix& points, Index p) {
  double square = 0;
  for (Index c = 0; c < rows.cols(); ++c) square += (rows(n, c) - points(p, c)) * (rows(n, c) - points(p, c));
  return square;
}

NeighbourKernel example_kernel(Index columns) { return {Vector::LinSpaced(columns, 0.8, 2.5), 1.3, 0.07}; }

double mean_of_log_density(const PredictionComponent& one, const Matrix& targets) {
  return oracle::mean_of(Prediction::mix({one}).log_density(targets));
}

double coverage(const PredictionComponent& one, const Matrix& targets) {
  return oracle::inside_95(Prediction::mix({one}).cumulative(targets));
}

PredictionComponent alone(PredictionComponent one) {
  one.weight.resize(0, 0);
  return one;
}

}  // namespace

TEST_CASE("nearest rows: a tree and products of blocks find what sorting all distances finds") {
  for (const Index columns : {1, 3, 15, 16, 40}) {
    const Matrix drawn = random_matrix(400, columns, 1);
    const Matrix rows = filled(400, columns, [&](Index n, Index c) {
      const double number = drawn(n < 340 ? n : n - 340, c);  // equally near
      return columns == 3 ? std::round(4 * number) : number;
    });
    const NearestRows search(rows);
    for (const bool own : {true, false}) {
      const Matrix points = own ? oracle::chosen(rows, counted(70)) : random_matrix(70, columns, 2);
      const IndexMatrix found = search.find(points, 12, own ? counted(70) : std::vector<Index>());
      for (Index p = 0; p < points.rows(); ++p) {
        std::vector<std::pair<double, Index>> all;
        for (Index n = 0; n < rows.rows(); ++n)
          if (!own || n != p) all.emplace_back(square_between(rows, n, points, p), n);
        std::ranges::sort(all);
        for (std::size_t i = 0; i < 12; ++i) {
          const Index row = found(static_cast<Index>(i), p);
          CHECK(square_between(rows, row, points, p) == oracle::relative(all[i].first, 1e-9));
          if (columns <= NearestRows::kMostTreeColumns && columns != 15) CHECK(row == all[i].second);
        }
      }
    }
  }
  CHECK(NearestRows(random_matrix(5, 2, 1)).find(random_matrix(1, 2, 2), 12).rows() == 5);
  CHECK(NearestRows(random_matrix(1, 2, 1)).find(random_matrix(1, 2, 1), 3, counted(1)).rows() == 0);
}

TEST_CASE("neighbours: with all rows as neighbours it is the Gaussian process") {
  const Index count = 60;  // fewer than a prediction takes
  const Matrix rows = random_matrix(count, 3, 1), targets = random_matrix(count, 2, 2), fresh = random_matrix(20, 3, 3);
  NeighbourKernel other = example_kernel(3);
  other.signal = 0.2, other.noise = 0.5;
  const Vector slopes = random_matrix(4, 1, 4);
  const Neighbours model({rows, targets, {{Vector::Zero(4), example_kernel(3)}, {slopes, other}}});
  const PredictionComponent found = model.predict(fresh);
  for (const Index k : {0, 1}) {
    const NeighbourKernel& kernel = k == 0 ? example_kernel(3) : other;
    const Vector none = Vector::Zero(4), &line = k == 0 ? none : slopes;
    const Matrix trend = oracle::on_line(line, rows), fresh_trend = oracle::on_line(line, fresh);
    const Vector values = filled(count, [&](Index n) { return targets(n, k) - trend(n); });
    PlainMatrix all = covariance(kernel, rows, rows);
    for (std::size_t n = 0; n < all.rows(); ++n) all(n, n) += kernel.noise;
    const PlainMatrix inverse = all.inverse(), across = covariance(kernel, fresh, rows), gains = across * inverse,
                      mean = gains * values, explained = gains * across.transpose(), pulls = inverse * values;
    for (Index i = 0; i < 20; ++i) {
      const auto at = static_cast<std::size_t>(i);
      CHECK(std::abs(found.mean(i, k) - fresh_trend(i) - mean[at]) < 1e-10);
      CHECK(std::abs(std::pow(found.epistemic_sd(i, k), 2) - (kernel.signal - explained(at, at))) < 1e-10);
    }
    CHECK(found.noise_sd(5, k) == oracle::relative(std::sqrt(kernel.noise), 1e-14));
    // Every row without itself: y - (K^-1 y) / diagonal, 1 / diagonal.
    const IndexMatrix others = NearestRows(kernel.scaled(rows)).find(kernel.scaled(rows), count - 1, counted(count));
    const Vector no_weights;
    RowConditional conditional(kernel, rows, values, no_weights);
    for (Index n = 0; n < count; ++n) {
      const auto at = static_cast<std::size_t>(n);
      const RowConditional::Belief belief = conditional.at(rows.row(n), others.col(n));
      CHECK(std::abs(belief.mean - (values(n) - pulls[at] / inverse(at, at))) < 1e-10);
      CHECK(std::abs(belief.variance + kernel.noise - 1 / inverse(at, at)) < 1e-10);
    }
  }
}

TEST_CASE("neighbours: the gradient is that of finite differences") {
  const Matrix rows = random_matrix(80, 4, 1);
  const Vector values = random_matrix(80, 1, 2), own = filled(80, [&](Index n) { return 1.1 * values(n); });
  const NeighbourKernel kernel = example_kernel(4);
  const std::vector<Index> some = {3, 70, 11, 42};
  const IndexMatrix nearest = NearestRows(kernel.scaled(rows)).find(oracle::chosen(kernel.scaled(rows), some), 9, some);
  Vector gradient, unused;
  const Vector logs = kernel.logs();
  const double value = mean_log_density(kernel, rows, values, own, some, nearest, gradient);
  CHECK(value == mean_log_density(kernel, rows, values, own, some, nearest, unused, 3));
  constexpr double kStep = 1e-5;
  for (Index i = 0; i < logs.size(); ++i) {
    const auto at = [&](double step) {
      Vector moved = logs;
      moved(i) += step;
      return mean_log_density(NeighbourKernel::from_logs(moved), rows, values, own, some, nearest, unused);
    };
    CHECK(gradient(i) == oracle::relative((at(kStep) - at(-kStep)) / (2 * kStep), 1e-7));
  }
}

TEST_CASE("neighbours: a row of weight w is w equal rows") {
  constexpr Index kRows = 9;
  const Matrix rows = random_matrix(kRows, 3, 1);
  const Vector values = random_matrix(kRows, 1, 2),
               weights = filled(kRows, [](Index n) { return std::round(1 + 0.25 * static_cast<double>(n)); });
  std::vector<Index> repeated;
  for (Index n = 0; n < kRows; ++n) repeated.insert(repeated.end(), static_cast<std::size_t>(weights(n)), n);
  const NeighbourKernel kernel = example_kernel(3);
  const Vector values_repeated = oracle::chosen(values, repeated);
  Vector gradient;
  PlainMatrix expected(static_cast<std::size_t>(kernel.parameters()), 1);
  double sum = 0, rows_in_all = 0;
  for (Index n = 0; n < kRows; ++n) {  // by all others, with all their copies
    std::vector<Index> others;
    for (std::size_t i = 0; i < repeated.size(); ++i)
      if (repeated[i] != n) others.push_back(static_cast<Index>(i));
    IndexMatrix nearest(static_cast<Index>(others.size()), 1);
    std::ranges::copy(others, nearest.data());
    const Index own = std::ranges::find(repeated, n) - repeated.begin();
    sum += weights(n) * mean_log_density(kernel, oracle::chosen(rows, repeated), values_repeated, values_repeated,
                                         std::vector<Index>{own}, nearest, gradient);
    expected += weights(n) * PlainMatrix(gradient);
    rows_in_all += weights(n);
  }
  IndexMatrix nearest(kRows - 1, kRows);
  for (Index n = 0; n < kRows; ++n)
    for (Index i = 0; i < kRows - 1; ++i) nearest(i, n) = i < n ? i : i + 1;
  const double found = mean_log_density(kernel, rows, values, values, counted(kRows), nearest, gradient, 1, weights);
  CHECK(found == oracle::relative(sum / rows_in_all, 1e-10));
  for (Index i = 0; i < gradient.size(); ++i)
    CHECK(std::abs(gradient(i) - expected[static_cast<std::size_t>(i)] / rows_in_all) < 1e-9);
}

TEST_CASE("neighbours: on few rows of many columns they promise no more than there is") {
  for (const auto& [count, columns, slope] : {std::tuple{300, 50, 0.0}, {80, 120, 0.0}, {90, 120, 1.0}}) {
    const Matrix rows = random_matrix(count, columns, 1), fresh = random_matrix(500, columns, 2);
    const auto made = [slope = slope](const Matrix& x, std::uint64_t seed) {
      const Matrix noise = random_matrix(x.rows(), 1, seed);
      return filled(x.rows(),
                    [&](Index n) { return slope * (x(n, 0) + x(n, 1) + x(n, 2) + x(n, 3) + x(n, 4)) + noise(n); });
    };
    const Matrix targets = made(rows, 3), fresh_targets = made(fresh, 4);
    const Neighbours::Fit fit = Neighbours::fit(rows, targets);
    const Vector& lengthscales = fit.model.memory().outputs[0].kernel.lengthscales;
    if (slope == 0) CHECK(std::ranges::count(lengthscales, lengthscales(0)) == columns);
    const double spread = std::pow(oracle::rms(fresh_targets), 2),
                 of_mean = -0.5 * std::log(2 * M_PI * std::exp(1) * spread);
    const PredictionComponent found = alone(fit.model.predict(fresh));
    CHECK(mean_of_log_density(found, fresh_targets) > of_mean - 0.05);
    CHECK(coverage(found, fresh_targets) > 0.92);
    CHECK(mean_of_log_density(fit.left_out, targets) < mean_of_log_density(found, fresh_targets) + 0.1);
  }
}

TEST_CASE("neighbours: tails that halves of few rows tell belong to the noise that stays") {
  const auto steps = [](const Matrix& x, std::uint64_t seed) {
    const Matrix noise = random_matrix(x.rows(), 1, seed);
    return filled(x.rows(),
                  [&](Index n) { return 2 * (x(n, 0) > 0) + std::abs(x(n, 1)) + 0.5 * x(n, 2) + 0.5 * noise(n); });
  };
  double held = 0;
  for (const std::uint64_t seed : {1u, 6u}) {
    const Matrix rows = random_matrix(250, 8, seed), fresh = random_matrix(500, 8, seed + 10);
    const Neighbours::Fit fit = Neighbours::fit(rows, steps(rows, seed + 20));
    CHECK(fit.left_out.noise_sd(0, 0) ==
          oracle::relative(std::sqrt(fit.model.memory().outputs[0].kernel.noise), 1e-14));
    held += coverage(alone(fit.model.predict(fresh)), steps(fresh, seed + 30)) / 2;
  }
  CHECK(held < 0.985);  // 0.971; with tails beside the noise of halves all are held
}

TEST_CASE("neighbours: local structure is learned, its intervals hold, and threads change nothing") {
  const Matrix rows = random_matrix(700, 2, 1), fresh = random_matrix(500, 2, 3);
  const auto waves = [](const Matrix& x, double sd, std::uint64_t seed) {
    const Matrix noise = random_matrix(x.rows(), 1, seed);
    return filled(x.rows(), [&](Index n) { return std::sin(6 * x(n, 0)) + 0.5 * x(n, 1) + sd * noise(n); });
  };
  const Matrix targets = waves(rows, 0.1, 2), fresh_targets = waves(fresh, 0.1, 4);
  const Neighbours::Fit fit = Neighbours::fit(rows, targets), again = Neighbours::fit(rows, targets, {.jobs = 3});
  const PredictionComponent found = alone(fit.model.predict(fresh));
  CHECK(oracle::rmse(found.mean, waves(fresh, 0, 4)) < 0.12);
  CHECK(coverage(found, fresh_targets) > 0.92);
  CHECK(coverage(fit.left_out, targets) > 0.92);
  CHECK(mean_of_log_density(fit.left_out, targets) == oracle::relative(mean_of_log_density(found, fresh_targets), 0.2));
  const Vector& lengthscales = fit.model.memory().outputs[0].kernel.lengthscales;
  CHECK(lengthscales(1) > 3 * lengthscales(0));
  CHECK(found.mean == again.model.predict(fresh).mean);
  CHECK(fit.left_out.epistemic_sd == again.left_out.epistemic_sd);
}

TEST_CASE("neighbours: what is said of a row that is left out does not depend on its target") {
  // Few rows, and more than a process of all rows takes.
  for (const Index count : {Index{120}, Neighbours::kMostExactRows + 100}) {
    const Matrix rows = random_matrix(count, 2, 3), noise = random_matrix(count, 1, 4);
    Matrix targets = filled(count, [&](Index n) { return rows(n, 0) + std::sin(3 * rows(n, 1)) + 0.1 * noise(n); });
    const Neighbours::Fit fit = Neighbours::fit(rows, targets);
    const Index place = 57, row = fit.judged[57];
    targets(row, 0) += 3;
    const Neighbours::Fit other = Neighbours::fit(rows, targets);
    REQUIRE(other.judged == fit.judged);
    // Exact where all rows are seen; otherwise the row is a neighbour of others, which tell the line.
    const double most = count <= Neighbours::kMostExactRows ? 1e-12 : 0.01;
    CHECK(std::abs(other.left_out.mean(place, 0) - fit.left_out.mean(place, 0)) < most);
    CHECK(std::abs(other.left_out.epistemic_sd(place, 0) - fit.left_out.epistemic_sd(place, 0)) < most);
  }
}

TEST_CASE("neighbours: of a large table a sample is judged, as all of its rows would be") {
  const Matrix rows = random_matrix(20500, 2, 7), noise = random_matrix(20500, 1, 8);
  const Matrix targets = filled(20500, [&](Index n) { return std::sin(3 * rows(n, 0)) + rows(n, 1) + 0.2 * noise(n); });
  const Neighbours::Fit fit = Neighbours::fit(rows, targets, {.jobs = 2});
  REQUIRE(fit.judged.size() == 5000);
  CHECK(std::ranges::is_sorted(fit.judged));
  const PredictionComponent all = fit.model.left_out(2);
  // Single rows beyond all others tell much of the line, which all rows have learned from them.
  CHECK(oracle::rmse(oracle::chosen(all.mean, fit.judged), fit.left_out.mean) < 0.03);
  CHECK(oracle::rmse(oracle::chosen(all.epistemic_sd, fit.judged), fit.left_out.epistemic_sd) < 0.03);
  CHECK(coverage(alone(all), targets) == oracle::relative(0.95, 0.01));
}

TEST_CASE("neighbours: far from the rows they are as wrong as they say") {
  // Lines with waves on them: the waves end somewhere, the line goes on. Rows come from a square of two columns.
  constexpr int kTables = 3;
  constexpr Index kRows = 60;
  for (const double wave : {0.0, 0.3, 1.0}) {
    CAPTURE(wave);
    double square = 0;
    for (int t = 0; t < kTables; ++t) {
      const auto seed = static_cast<std::uint64_t>(t);
      const Matrix rows = random_matrix(kRows, 2, 10 + seed), slopes = random_matrix(2, 1, 100 + seed),
                   drawn = random_matrix(2, 1, 200 + seed), noise = random_matrix(kRows, 1, 300 + seed);
      const auto line = [&](const Matrix& x, Index n) { return x(n, 0) * slopes(0) + x(n, 1) * slopes(1); };
      const Matrix targets = filled(kRows, [&](Index n) {
        const double waves = std::sin(2 * rows(n, 0) + 3 * drawn(0)) + std::sin(3 * rows(n, 1) + 3 * drawn(1));
        return line(rows, n) + wave * waves + 0.1 * noise(n);
      });
      const Matrix far{{100, -50}, {1e6, -5e5}};
      const PredictionComponent found = Neighbours::fit(rows, targets).model.predict(far);
      square += std::pow((found.mean(0) - line(far, 0)) / found.epistemic_sd(0), 2) / kTables;
      CHECK(found.epistemic_sd(1) == oracle::relative(1e4 * found.epistemic_sd(0), 0.1));
    }
    CHECK(square < 2.5);
    CHECK(square > 0.04);  // not five times as wrong as they are
  }
}

TEST_CASE("neighbours: equal rows, equal targets and columns without values are no trouble") {
  Matrix rows = random_matrix(120, 3, 1);
  rows.bottomRows(60) = rows.topRows(60);
  rows.col(2).setZero();
  Matrix targets = random_matrix(120, 3, 2);
  targets.bottomRows(60) = targets.topRows(60);
  targets.col(1).setConstant(4);
  targets.col(2) = rows.col(0) * 2;  // a line, without noise
  const Neighbours::Fit fit = Neighbours::fit(rows, targets);
  const PredictionComponent found = fit.model.predict(rows);
  for (const PredictionComponent& one : {found, fit.left_out}) {
    CHECK(one.mean.allFinite());
    CHECK(one.epistemic_sd.allFinite());
    CHECK((one.mean.col(0) - targets.col(0)).cwiseAbs().maxCoeff() < 0.2);  // a copy knows the answer
    CHECK((one.mean.col(2) - targets.col(2)).cwiseAbs().maxCoeff() < 1e-4);
  }
  CHECK(fit.is_learned == std::vector{true, true, true});
  targets.col(1).setZero();  // standardised, what is constant
  CHECK(Neighbours::fit(rows, targets).is_learned == std::vector{true, false, true});
}

TEST_CASE("neighbours: rows that are added are neighbours like those that were learned") {
  const Matrix rows = random_matrix(90, 2, 1), targets = random_matrix(90, 1, 2), fresh = random_matrix(9, 2, 3);
  const std::vector<Neighbours::Output> outputs = {{Vector::Zero(3), example_kernel(2), {}, 0.25}};
  const Neighbours whole({rows, targets, outputs});
  Neighbours grown({rows.topRows(70), targets.topRows(70), outputs});
  grown.add(rows.bottomRows(20), targets.bottomRows(20));
  CHECK(whole.predict(fresh).mean == grown.predict(fresh).mean);
  CHECK(whole.predict(fresh).weight(3, 0) == 0.25);
}
