#include "models/neighbours/neighbours.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include "tests/oracles/random_matrices.h"

namespace {

using namespace dma;
using oracle::random_matrix;

std::vector<Index> counted(Index count) {
  std::vector<Index> all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), Index{0});
  return all;
}

// The covariance of values at rows and at others, entry by entry.
Matrix covariance(const NeighbourKernel& k, const Matrix& rows, const Matrix& others) {
  Matrix all(rows.rows(), others.rows());
  for (Index i = 0; i < rows.rows(); ++i)
    for (Index j = 0; j < others.rows(); ++j) {
      double square = 0;
      for (Index c = 0; c < rows.cols(); ++c) square += std::pow((rows(i, c) - others(j, c)) / k.lengthscales(c), 2);
      const double d = std::sqrt(5 * square);
      all(i, j) = k.signal * (1 + d + d * d / 3) * std::exp(-d);
    }
  return all;
}

NeighbourKernel example_kernel(Index columns) { return {Vector::LinSpaced(columns, 0.8, 2.5), 1.3, 0.07}; }

double mean_of_log_density(const PredictionComponent& one, const Matrix& targets) {
  return Prediction::mix({one}).log_density(targets).mean();
}

double coverage(const PredictionComponent& one, const Matrix& targets) {
  const Eigen::ArrayXXd below = Prediction::mix({one}).cumulative(targets);
  return (below > 0.025 && below < 0.975).cast<double>().mean();
}

PredictionComponent alone(PredictionComponent one) {
  one.weight.resize(0, 0);
  return one;
}

}  // namespace

TEST_CASE("nearest rows: a tree and products of blocks find what sorting all distances finds") {
  for (const Index columns : {1, 3, 15, 16, 40}) {
    Matrix rows = random_matrix(400, columns, 1);
    rows.bottomRows(60) = rows.topRows(60);  // equally near
    if (columns == 3) rows = (4 * rows).array().round();
    const NearestRows search(rows);
    for (const bool own : {true, false}) {
      const Matrix points = own ? Matrix(rows.topRows(70)) : random_matrix(70, columns, 2);
      const IndexMatrix found = search.find(points, 12, own ? counted(70) : std::vector<Index>());
      for (Index p = 0; p < points.rows(); ++p) {
        std::vector<std::pair<double, Index>> all;
        for (Index n = 0; n < rows.rows(); ++n)
          if (!own || n != p) all.emplace_back((rows.row(n) - points.row(p)).squaredNorm(), n);
        std::ranges::sort(all);
        for (std::size_t i = 0; i < 12; ++i) {
          const Index row = found(static_cast<Index>(i), p);
          CHECK((rows.row(row) - points.row(p)).squaredNorm() == doctest::Approx(all[i].first).epsilon(1e-9));
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
    const auto trend = [&](const Matrix& x) -> Vector {
      return k == 0 ? Vector::Zero(x.rows()) : Vector((x * slopes.head(3)).array() + slopes(3));
    };
    Matrix all = covariance(kernel, rows, rows);
    all.diagonal().array() += kernel.noise;
    const Matrix inverse = all.inverse(), across = covariance(kernel, fresh, rows);
    const Vector values = targets.col(k) - trend(rows), mean = trend(fresh) + across * inverse * values;
    const Vector variance = kernel.signal - (across * inverse).cwiseProduct(across).rowwise().sum().array();
    CHECK((found.mean.col(k) - mean).cwiseAbs().maxCoeff() < 1e-10);
    CHECK((found.epistemic_sd.col(k).cwiseAbs2() - variance).cwiseAbs().maxCoeff() < 1e-10);
    CHECK(found.noise_sd(5, k) == doctest::Approx(std::sqrt(kernel.noise)).epsilon(1e-14));
    // Every row without itself: y - (K^-1 y) / diagonal, 1 / diagonal.
    const IndexMatrix others = NearestRows(kernel.scaled(rows)).find(kernel.scaled(rows), count - 1, counted(count));
    const Vector no_weights;
    RowConditional conditional(kernel, rows, values, no_weights);
    const Vector left_out = values - (inverse * values).cwiseQuotient(inverse.diagonal());
    for (Index n = 0; n < count; ++n) {
      const RowConditional::Belief belief = conditional.at(rows.row(n), others.col(n));
      CHECK(std::abs(belief.mean - left_out(n)) < 1e-10);
      CHECK(std::abs(belief.variance + kernel.noise - 1 / inverse(n, n)) < 1e-10);
    }
  }
}

TEST_CASE("neighbours: the gradient is that of finite differences") {
  const Matrix rows = random_matrix(80, 4, 1);
  const Vector values = random_matrix(80, 1, 2), own = 1.1 * values;
  const NeighbourKernel kernel = example_kernel(4);
  const std::vector<Index> some = {3, 70, 11, 42};
  const IndexMatrix nearest = NearestRows(kernel.scaled(rows)).find(kernel.scaled(rows)(some, Eigen::all), 9, some);
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
    CHECK(gradient(i) == doctest::Approx((at(kStep) - at(-kStep)) / (2 * kStep)).epsilon(1e-7));
  }
}

TEST_CASE("neighbours: a row of weight w is w equal rows") {
  constexpr Index kRows = 9;
  const Matrix rows = random_matrix(kRows, 3, 1);
  const Vector values = random_matrix(kRows, 1, 2), weights = Vector::LinSpaced(kRows, 1, 3).array().round();
  std::vector<Index> repeated;
  for (Index n = 0; n < kRows; ++n) repeated.insert(repeated.end(), static_cast<std::size_t>(weights(n)), n);
  const NeighbourKernel kernel = example_kernel(3);
  Vector gradient, expected = Vector::Zero(kernel.parameters());
  double sum = 0;
  for (Index n = 0; n < kRows; ++n) {  // by all others, with all their copies
    std::vector<Index> others;
    for (std::size_t i = 0; i < repeated.size(); ++i)
      if (repeated[i] != n) others.push_back(static_cast<Index>(i));
    IndexMatrix nearest(static_cast<Index>(others.size()), 1);
    std::ranges::copy(others, nearest.data());
    const Index own = std::ranges::find(repeated, n) - repeated.begin();
    sum += weights(n) * mean_log_density(kernel, rows(repeated, Eigen::all), values(repeated), values(repeated),
                                         std::vector<Index>{own}, nearest, gradient);
    expected += weights(n) * gradient;
  }
  IndexMatrix nearest(kRows - 1, kRows);
  for (Index n = 0; n < kRows; ++n)
    for (Index i = 0; i < kRows - 1; ++i) nearest(i, n) = i < n ? i : i + 1;
  const double found =
      mean_log_density(kernel, rows, values, values, counted(kRows), nearest, gradient, 1, weights);
  CHECK(found == doctest::Approx(sum / weights.sum()).epsilon(1e-10));
  CHECK((gradient - expected / weights.sum()).cwiseAbs().maxCoeff() < 1e-9);

  // Two lines, of which one has most of the weight: the trend is the weighted least squares.
  const Matrix x = random_matrix(400, 2, 3);
  Matrix y = x.col(0) + 0.1 * random_matrix(400, 1, 4);
  y.topRows(200) -= 2 * x.col(0).head(200);
  Vector heavy = Vector::Constant(400, 3);
  heavy.head(200).setOnes();
  Matrix features(400, 3);
  features << x, Vector::Ones(400);
  const Vector line = (features.transpose() * heavy.asDiagonal() * features)
                          .ldlt()
                          .solve(features.transpose() * heavy.cwiseProduct(y.col(0)));
  const Neighbours::Output output = Neighbours::fit(x, y, {}, heavy).model.memory().outputs.at(0);
  CHECK((output.trend - line).cwiseAbs().maxCoeff() < 1e-3);
}

TEST_CASE("neighbours: on few rows of many columns they promise no more than there is") {
  for (const auto& [count, columns, slope] : {std::tuple{400, 100, 0.0}, {100, 200, 0.0}, {100, 200, 1.0}}) {
    const Matrix rows = random_matrix(count, columns, 1), fresh = random_matrix(1000, columns, 2);
    const auto line = [slope = slope](const Matrix& x) -> Matrix { return slope * x.leftCols(5).rowwise().sum(); };
    const Matrix targets = line(rows) + random_matrix(count, 1, 3),
                 fresh_targets = line(fresh) + random_matrix(1000, 1, 4);
    const Neighbours::Fit fit = Neighbours::fit(rows, targets);
    const Vector& lengthscales = fit.model.memory().outputs[0].kernel.lengthscales;
    if (slope == 0) CHECK((lengthscales.array() == lengthscales(0)).all());
    const double spread = fresh_targets.squaredNorm() / 1000,
                 of_mean = -0.5 * std::log(2 * M_PI * std::exp(1) * spread);
    const PredictionComponent found = alone(fit.model.predict(fresh));
    CHECK(mean_of_log_density(found, fresh_targets) > of_mean - 0.05);
    CHECK(coverage(found, fresh_targets) > 0.92);
    CHECK(mean_of_log_density(fit.left_out, targets) < mean_of_log_density(found, fresh_targets) + 0.1);
  }
}

TEST_CASE("neighbours: tails that halves of few rows tell belong to the noise that stays") {
  const auto steps = [](const Matrix& x) -> Matrix {
    return 2 * (x.col(0).array() > 0).cast<double>() + x.col(1).array().abs() + 0.5 * x.col(2).array();
  };
  double held = 0;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const Matrix rows = random_matrix(250, 8, seed), fresh = random_matrix(1000, 8, seed + 10);
    const Neighbours::Fit fit = Neighbours::fit(rows, steps(rows) + 0.5 * random_matrix(250, 1, seed + 20));
    CHECK(fit.left_out.noise_sd(0, 0) ==
          doctest::Approx(std::sqrt(fit.model.memory().outputs[0].kernel.noise)).epsilon(1e-14));
    held += coverage(alone(fit.model.predict(fresh)), steps(fresh) + 0.5 * random_matrix(1000, 1, seed + 30)) / 8;
  }
  CHECK(held < 0.974);  // with tails beside the noise of halves it is 0.979
}

TEST_CASE("neighbours: local structure is learned, its intervals hold, and threads change nothing") {
  const Matrix rows = random_matrix(700, 2, 1), noise = random_matrix(700, 1, 2), fresh = random_matrix(500, 2, 3);
  const auto truth = [](const Matrix& x) -> Matrix { return (6 * x.col(0).array()).sin() + 0.5 * x.col(1).array(); };
  const Matrix targets = truth(rows) + 0.1 * noise, fresh_targets = truth(fresh) + 0.1 * random_matrix(500, 1, 4);
  const Neighbours::Fit fit = Neighbours::fit(rows, targets), again = Neighbours::fit(rows, targets, {.jobs = 3});
  const PredictionComponent found = alone(fit.model.predict(fresh));
  CHECK(std::sqrt((found.mean - truth(fresh)).squaredNorm() / 500) < 0.12);
  CHECK(coverage(found, fresh_targets) > 0.92);
  CHECK(coverage(fit.left_out, targets) > 0.92);
  CHECK(mean_of_log_density(fit.left_out, targets) ==
        doctest::Approx(mean_of_log_density(found, fresh_targets)).epsilon(0.2));
  const Vector& lengthscales = fit.model.memory().outputs[0].kernel.lengthscales;
  CHECK(lengthscales(1) > 3 * lengthscales(0));
  CHECK(found.mean == again.model.predict(fresh).mean);
  CHECK(fit.left_out.epistemic_sd == again.left_out.epistemic_sd);
}

TEST_CASE("neighbours: a row that is left out has no part in the trend of its neighbours either") {
  constexpr Index kRows = 320;
  Matrix rows = random_matrix(kRows, 2, 3);
  rows.col(0) = rows.col(0).array().cube() / 2;  // some rows have much leverage
  const Matrix targets =
      2 * rows.col(0).array() + (3 * rows.col(1).array()).sin() + 0.1 * random_matrix(kRows, 1, 4).array();
  const Vector weights = random_matrix(kRows, 1, 5).cwiseAbs().array() + 0.5;
  const Neighbours::Fit fit = Neighbours::fit(rows, targets, {}, weights);
  REQUIRE(fit.left_out.mean.rows() == kRows);
  const NeighbourKernel& kernel = fit.model.memory().outputs[0].kernel;
  Matrix with_ones(kRows, 3);
  with_ones << rows, Vector::Ones(kRows);
  for (Index n = 0; n < kRows; ++n) {
    std::vector<Index> others;
    for (Index i = 0; i < kRows; ++i)
      if (i != n) others.push_back(i);
    const Vector roots = weights(others).cwiseSqrt();
    const Vector line = (roots.asDiagonal() * with_ones(others, Eigen::all))
                            .householderQr()
                            .solve(roots.cwiseProduct(targets(others, 0)));
    const Vector left = targets - with_ones * line;
    const Matrix scaled = kernel.scaled(rows);
    std::ranges::sort(others, {}, [&](Index i) { return (scaled.row(i) - scaled.row(n)).squaredNorm(); });
    others.resize(Neighbours::kNeighbours);
    const Matrix near = rows(others, Eigen::all);
    Matrix k = covariance(kernel, near, near);
    k.diagonal() += kernel.noise * weights(others).cwiseInverse();
    const double process = covariance(kernel, rows.row(n), near).row(0).dot(Vector(k.ldlt().solve(left(others))));
    CHECK(fit.left_out.mean(n, 0) == doctest::Approx(with_ones.row(n).dot(line) + process).epsilon(1e-6));
  }
}

TEST_CASE("neighbours: of a large table a sample is judged, as all of its rows would be") {
  const Matrix rows = random_matrix(20500, 2, 7);
  const Matrix targets = (3 * rows.col(0)).array().sin().matrix() + rows.col(1) + 0.2 * random_matrix(20500, 1, 8);
  const Neighbours::Fit fit = Neighbours::fit(rows, targets, {.jobs = 2});
  REQUIRE(fit.judged.size() == 5000);
  CHECK(std::ranges::is_sorted(fit.judged));
  const PredictionComponent all = fit.model.left_out(2);
  CHECK((all.mean(fit.judged, Eigen::all) - fit.left_out.mean).cwiseAbs().maxCoeff() < 1e-3);
  CHECK(all.epistemic_sd(fit.judged, Eigen::all) == fit.left_out.epistemic_sd);
  CHECK(coverage(alone(all), targets) == doctest::Approx(0.95).epsilon(0.01));
}

TEST_CASE("neighbours: far from the rows they are as wrong as they say") {
  // Lines with waves on them: the waves end somewhere, the line goes on. Rows come from a square of two columns.
  constexpr int kTables = 5;
  for (const double wave : {0.0, 0.3, 1.0}) {
    CAPTURE(wave);
    double square = 0;
    for (int t = 0; t < kTables; ++t) {
      const auto seed = static_cast<std::uint64_t>(t);
      const Matrix rows = random_matrix(150, 2, 10 + seed), slopes = random_matrix(2, 1, 100 + seed),
                   phases = 3 * random_matrix(2, 1, 200 + seed), noise = random_matrix(150, 1, 300 + seed);
      const Matrix targets = (rows * slopes).array() +
                             wave * ((2 * rows.col(0).array() + phases(0)).sin() +
                                     (3 * rows.col(1).array() + phases(1)).sin()) +
                             0.1 * noise.array();
      Matrix far(2, 2);
      far << 100, -50, 1e6, -5e5;
      const PredictionComponent found = Neighbours::fit(rows, targets).model.predict(far);
      square += std::pow((found.mean(0) - (far * slopes)(0)) / found.epistemic_sd(0), 2) / kTables;
      CHECK(found.epistemic_sd(1) == doctest::Approx(1e4 * found.epistemic_sd(0)).epsilon(0.1));
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
  CHECK(std::isinf(fit.flattery(1)));
  CHECK(std::isinf(fit.flattery(2)));
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
