// Each of the noise models on fresh rows of made tables: intervals hold what they promise, where noise is small and
// where it is large.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/support/text.h"
#include "factors/standard_registry.h"
#include "models/network/bnn.h"
#include "models/predict/table_model.h"
#include "models/table/noise.h"
#include "tests/oracles/random_matrices.h"
#include "tests/oracles/scores.h"

using namespace dma;

namespace {

using Eigen::MatrixXd;

// y = signal * (x0 + sin(2 x1)) + noise of sd exp(log_sd + slope * x0).
struct Law {
  double signal, log_sd, slope;
};
constexpr Law kLoudAtOneEnd{1, -1, 1}, kConstant{1, -1, 0}, kPureNoise{0, 0, 0};

struct Table {
  MatrixXd x, y;
};
Table made(const Law& law, Eigen::Index rows, std::uint64_t seed) {
  const MatrixXd x = oracle::random_matrix(rows, 2, seed), noise = oracle::random_matrix(rows, 1, seed + 500);
  return {x, oracle::filled(rows, [&](Eigen::Index n) {
            return noise(n) * std::exp(law.log_sd + law.slope * x(n, 0)) +
                   law.signal * (x(n, 0) + std::sin(2 * x(n, 1)));
          })};
}

// Error of the mean or of least squares, the smaller one.
double simple_rmse(const Table& learned, const Table& fresh) {
  const double mean = oracle::mean_of(learned.y);
  return std::min(oracle::rmse(oracle::filled(fresh.y.rows(), [&](Eigen::Index) { return mean; }), fresh.y),
                  oracle::rmse(oracle::on_line(oracle::line_through(learned.x, learned.y), fresh.x), fresh.y));
}

struct Honesty {
  double all = 0, quiet = 0,
         loud = 0;  // fractions of fresh rows inside 95 % intervals; of those with the lowest and highest x0
  double rmse = 0, simple = 0;
};
Honesty honesty_of(const Law& law, NoiseModel model) {
  constexpr std::uint64_t kSeeds = 2;
  constexpr Eigen::Index kLearned = 250, kFresh = 600;
  Honesty sum;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Table learned = made(law, kLearned, seed), fresh = made(law, kFresh, seed + 100);
    Bnn net({.layers = {2, 12, 1}, .noise_model = model, .neighbours = false, .members = 1, .seed = seed});
    net.fit(learned.x, learned.y);
    const Prediction p = net.predict(fresh.x);
    const MatrixXd low = p.quantile(0.025), high = p.quantile(0.975);
    std::vector<std::pair<double, bool>> held;
    for (Eigen::Index n = 0; n < kFresh; ++n)
      held.emplace_back(fresh.x(n, 0), low(n, 0) <= fresh.y(n, 0) && fresh.y(n, 0) <= high(n, 0));
    std::ranges::sort(held);
    const auto fraction = [&](std::size_t first, std::size_t last) {
      return static_cast<double>(std::count_if(held.begin() + static_cast<std::ptrdiff_t>(first),
                                               held.begin() + static_cast<std::ptrdiff_t>(last),
                                               [](const auto& row) { return row.second; })) /
             static_cast<double>(last - first) / kSeeds;
    };
    sum.all += fraction(0, kFresh), sum.quiet += fraction(0, kFresh / 3), sum.loud += fraction(2 * kFresh / 3, kFresh);
    sum.rmse += oracle::rmse(p.mean, fresh.y) / kSeeds, sum.simple += simple_rmse(learned, fresh) / kSeeds;
  }
  return sum;
}

bool is_inside(double fraction, double least, double most) { return fraction >= least && fraction <= most; }

void check_honest(const Law& law, const Honesty& found) {
  CAPTURE(law.slope);
  CAPTURE(law.signal);
  CAPTURE(found.all);
  CAPTURE(found.quiet);
  CAPTURE(found.loud);
  CAPTURE(found.rmse);
  CHECK(is_inside(found.all, 0.9, 0.99));
  CHECK(is_inside(found.quiet, 0.85, 1));
  CHECK(is_inside(found.loud, 0.85, 1));
  CHECK(found.rmse <= 1.05 * found.simple);
}

}  // namespace

TEST_CASE("noise model: intervals that depend on the inputs hold where noise is small and where it is large") {
  for (const Law& law : {kLoudAtOneEnd, kConstant, kPureNoise}) {
    check_honest(law, honesty_of(law, NoiseModel::inputs));
  }
}

TEST_CASE("noise model: constant noise is honest where noise is constant, and misses the loud rows where it is not") {
  for (const Law& law : {kConstant, kPureNoise}) {
    check_honest(law, honesty_of(law, NoiseModel::constant));
  }
  const Honesty wrong = honesty_of(kLoudAtOneEnd, NoiseModel::constant);
  CAPTURE(wrong.loud);
  CHECK(wrong.loud < 0.85);
  CHECK(wrong.quiet > 0.97);
}

TEST_CASE("noise model: constant noise is the same in all rows, and the default is neither of the two") {
  const Table t = made(kLoudAtOneEnd, 120, 3);
  const auto fitted = [&](NoiseModel model) {
    Bnn net({.layers = {2, 6, 1}, .noise_model = model, .neighbours = false, .members = 1});
    net.fit(t.x, t.y);
    return net.predict(t.x);
  };
  const Prediction constant = fitted(NoiseModel::constant), inputs = fitted(NoiseModel::inputs),
                   both = fitted(NoiseModel::choose);
  CHECK(constant.noise_sd.maxCoeff() < 1.01 * constant.noise_sd.minCoeff());
  CHECK(inputs.noise_sd.maxCoeff() > 3 * inputs.noise_sd.minCoeff());
  CHECK(both.mean != constant.mean);
  CHECK(both.mean != inputs.mean);
}

TEST_CASE("noise model: a file keeps it, and predictions with it") {
  const Table t = made(kLoudAtOneEnd, 80, 4);
  TableModel net =
      TableModel::network({.layers = {2, 4, 1}, .noise_model = NoiseModel::inputs, .members = 1}, {"a", "b"}, {"y"});
  net.fit({t.x, t.y}, {});
  const TableModel again = TableModel::from_text(net.text(), "model", standard_registry());
  CHECK(again.network()->options().noise_model == NoiseModel::inputs);
  CHECK(again.predict(t.x).mean == net.predict(t.x).mean);
  CHECK(again.predict(t.x).sd == net.predict(t.x).sd);
}

TEST_CASE("noise model: refused by name, and where noise is given or messages are swept") {
  CHECK(noise_model_named("inputs") == NoiseModel::inputs);
  CHECK_THROWS_WITH_AS(noise_model_named("input"), doctest::Contains("did you mean 'inputs'?"), Error);
  CHECK_THROWS_WITH_AS(Bnn({.layers = {1, 1}, .noise_model = NoiseModel::inputs, .method = "hybrid"}),
                       doctest::Contains("joint learning only"), Error);
  CHECK_THROWS_WITH_AS(Bnn({.layers = {1, 1}, .noise = 0.1, .noise_model = NoiseModel::inputs}),
                       doctest::Contains("the noise is given"), Error);
}
