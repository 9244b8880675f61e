// Targets that count, by made rows of which the truth is known.
#include "models/learn/counts.h"

#include <doctest/doctest.h>

#include <boost/random/gamma_distribution.hpp>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/poisson_distribution.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/support/model_file.h"
#include "engine/support/text.h"
#include "factors/likelihoods/counts.h"
#include "factors/standard_registry.h"
#include "models/learn/table_learner.h"
#include "models/network/bnn.h"
#include "models/predict/table_model.h"
#include "tests/oracles/model_files.h"
#include "tests/oracles/random_matrices.h"
#include "tests/oracles/relative.h"
#include "tests/oracles/scores.h"

using namespace dma;
using oracle::filled, oracle::random_matrix, oracle::relative;

namespace {

constexpr Index kLearned = 300, kFresh = 2000;

// Counts of mean exp(1 + 0.8 sin(2 x) + 0.5 z): Poisson, or with a rate that varies by gamma of this shape.
struct Counted {
  Matrix x = random_matrix(kLearned + kFresh, 2, 5), y = Matrix(kLearned + kFresh, 1);
  Eigen::ArrayXd log_mean = 1 + 0.8 * (2 * x.col(0).array()).sin() + 0.5 * x.col(1).array();

  explicit Counted(double shape) {
    boost::random::mt19937_64 random(7);
    for (Index n = 0; n < y.rows(); ++n) {
      const double rate = shape > 0 ? boost::random::gamma_distribution<double>(shape, 1 / shape)(random) : 1;
      y(n) = static_cast<double>(boost::random::poisson_distribution<int>(rate * std::exp(log_mean(n)))(random));
    }
  }
  TableRows learned() const { return {x.topRows(kLearned), y.topRows(kLearned)}; }
  Matrix fresh() const { return x.bottomRows(kFresh); }
  Matrix fresh_counts() const { return y.bottomRows(kFresh); }
  double best(double shape) const {  // the log probability of a fresh row, by the truth
    double sum = 0;
    for (Index n = kLearned; n < y.rows(); ++n) {
      const double shape_and_exposure[] = {shape, 1}, exposure[] = {1};
      sum += shape > 0 ? NegativeBinomial::log_density(log_mean(n), y(n), shape_and_exposure)
                       : Poisson::log_density(log_mean(n), y(n), exposure);
    }
    return sum / kFresh;
  }
};

TableModel counting(const TableRows& rows, bool count_target = true) {
  TableModel model =
      TableModel::network({.layers = {2, 10, 1}, .count_target = count_target, .members = 1}, {"x", "z"}, {"y"});
  model.fit(rows, {.options = {.epochs = 100}});
  return model;
}

double mass_of(const TableModel& model, const Counted& counted) {
  return log_mass_of_counts(model.predict(counted.fresh()), counted.fresh_counts()).mean();
}

// Fraction of fresh rows inside the central interval of 95 %.
double covered(const Prediction& p, const Matrix& y) {
  const Matrix low = p.quantile(0.025), high = p.quantile(0.975);
  return ((y.array() >= low.array()) && (y.array() <= high.array())).cast<double>().mean();
}

}  // namespace

TEST_CASE("counts: fresh rows are nearly as probable as by the truth, more than with Gaussian noise, and covered") {
  for (const double shape : {0.0, 2.0}) {
    CAPTURE(shape);
    const Counted counted(shape);
    const TableModel model = counting(counted.learned());
    const std::vector<CountNoise>& found = model.jointly()->counts();
    REQUIRE(found.size() == 1);
    CHECK(found[0].exposure == relative(counted.learned().targets.mean(), 1e-12));
    if (shape > 0)
      CHECK(found[0].shape == relative(shape, 0.5));
    else
      CHECK((found[0].shape == 0 || found[0].shape > 20));
    const double mass = mass_of(model, counted);
    CHECK(mass > counted.best(shape) - 0.06);
    CHECK(mass > mass_of(counting(counted.learned(), false), counted) + 0.05);
    const Prediction p = model.predict(counted.fresh());
    CHECK(covered(p, counted.fresh_counts()) > 0.94);
    const Scores scores = scores_of(p, counted.fresh_counts())[0];
    CHECK(scores.coverage_95 > 0.93);
    CHECK(scores.coverage_95 < 0.975);  // intervals of counts hold a little more
    CHECK(scores.log_likelihood == relative(mass, 1e-9));
    // Left-out scores hold for fresh rows.
    const LeftOut& left_out = model.training().report.left_out[0];
    CHECK(left_out.scores.log_likelihood == doctest::Approx(mass).epsilon(0.1));
    CHECK(left_out.scores.rmse == relative(scores.rmse, 0.25));
  }
}

TEST_CASE("counts: means, deviations, quantiles and probabilities are those of a sum over counts and a fine grid") {
  const Counted counted(2);
  const TableModel model = counting(counted.learned());
  const Prediction p = model.predict(counted.fresh().topRows(20));
  const CountNoise noise = model.jointly()->counts()[0];
  REQUIRE(noise.shape > 0);
  const double shape_and_exposure[] = {noise.shape, noise.exposure};
  for (Index n = 0; n < 20; ++n) {
    constexpr int kCounts = 2000, kGrid = 400;
    Eigen::ArrayXd mass = Eigen::ArrayXd::Zero(kCounts);
    for (const PredictionComponent& c : p.components) {
      const double weight = c.weight.size() > 0 ? c.weight(n, 0) : 1 / static_cast<double>(p.components.size());
      double grid = 0;
      for (int i = -kGrid; i <= kGrid; ++i) grid += std::exp(-0.5 * std::pow(8.0 * i / kGrid, 2));
      for (int i = -kGrid; i <= kGrid && weight > 0; ++i) {
        const double t = 8.0 * i / kGrid, x = c.mean(n, 0) + t * c.epistemic_sd(n, 0);
        for (int y = 0; y < kCounts; ++y)
          mass(y) += weight / grid * std::exp(-0.5 * t * t + NegativeBinomial::log_density(x, y, shape_and_exposure));
      }
    }
    const Eigen::ArrayXd y = Eigen::ArrayXd::LinSpaced(kCounts, 0, kCounts - 1);
    const double mean = (mass * y).sum(), sd = std::sqrt((mass * (y - mean).square()).sum());
    CHECK(mass.sum() == relative(1, 1e-6));
    CHECK(p.mean(n, 0) == relative(mean, 1e-4));
    CHECK(p.sd(n, 0) == relative(sd, 1e-3));
    CHECK(std::hypot(p.epistemic_sd(n, 0), p.noise_sd(n, 0)) == relative(p.sd(n, 0), 1e-9));
    for (const double level : {0.025, 0.5, 0.975}) {
      double reached = mass(0);
      int k = 0;
      while (reached < level) reached += mass(++k);
      CHECK(p.quantile(level)(n, 0) == k);
    }
    const Matrix four = Matrix::Constant(20, 1, 4);
    CHECK(p.log_density(four)(n, 0) == doctest::Approx(std::log(mass(4))).epsilon(1e-6));
    CHECK(p.cumulative(four)(n, 0) == relative(mass.head(5).sum(), 1e-6));
  }
}

TEST_CASE("counts: a model of them is saved, learns more rows, and shows them in its graph") {
  const Counted counted(0);
  TableModel model = counting(counted.learned());
  const TableModel again = TableModel::from_text(model.text(), "model.dma", standard_registry());
  CHECK(again.predict(counted.fresh()).mean == model.predict(counted.fresh()).mean);
  CHECK(again.predict(counted.fresh()).sd == model.predict(counted.fresh()).sd);
  const Graph graph = again.method().graph();
  const std::string_view kind = graph[graph.find_factor("noise")].kind;
  CHECK(kind == model.jointly()->counts()[0].kind());
  CHECK(model.update({counted.x.middleRows(kLearned, 300), counted.y.middleRows(kLearned, 300)}));
  CHECK(mass_of(model, counted) > counted.best(0) - 0.06);
  for (const double wrong : {0.0, -1.0, 1e308})
    CHECK_THROWS_WITH_AS(
        (void)TableModel::from_text(oracle::changed_model(model.text(), "/learned/counts/0/exposure", wrong), "m.dma",
                                    standard_registry()),
        doctest::Contains("the counts do not fit the targets"), Error);
  CHECK_THROWS_WITH_AS(model.update({counted.x.topRows(1), Matrix::Constant(1, 1, 2.5)}),
                       doctest::Contains("2.5 in row 1; "), Error);
}

TEST_CASE("counts: numbers that only look like them stay numbers") {
  const Matrix x = random_matrix(kLearned, 2, 3), noise = random_matrix(kLearned, 1, 4);
  const Matrix grades = filled(kLearned, [&](Index n) { return std::round(6 + 0.5 * x(n, 0) + 0.5 * noise(n)); }),
               ages = filled(kLearned, [&](Index n) { return std::round(200 + 30 * x(n, 0) + 20 * noise(n)); }),
               below = filled(kLearned, [&](Index n) { return std::round(3 * x(n, 0) + 2 * noise(n)); });
  for (const Matrix& y : {grades, ages, below}) CHECK(counting({x, y}).jointly()->counts().empty());
}

TEST_CASE("counts: a density counts with its mass within half a unit") {
  PredictionComponent gaussian;
  gaussian.mean = Matrix{{3}, {3}, {3}};
  gaussian.epistemic_sd = Matrix::Constant(3, 1, 0.6);
  gaussian.noise_sd = Matrix::Constant(3, 1, 0.8);
  const Eigen::VectorXd found = log_mass_of_counts(Prediction::mix({gaussian}), Matrix{{3}, {5}, {12}});
  const auto mass = [](double y) {
    return 0.5 * (std::erfc(-(y - 2.5) / std::sqrt(2)) - std::erfc(-(y - 3.5) / std::sqrt(2)));
  };
  CHECK(found(0) == relative(std::log(mass(3)), 1e-9));
  CHECK(found(1) == relative(std::log(mass(5)), 1e-9));
  CHECK(found(2) == relative(-0.5 * 81 - 0.5 * std::log(2 * std::acos(-1.0)), 1e-9));  // far out: the density
}
