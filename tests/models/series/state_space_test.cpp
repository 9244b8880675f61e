// Series, against textbook recursions; see also series_filter_test.cpp.
#include "models/series/state_space.h"

#include <doctest/doctest.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <cmath>
#include <limits>
#include <numbers>

#include "engine/support/text.h"
#include "tests/models/series/textbook_series.h"
#include "tests/oracles/relative.h"

using namespace dma;
using namespace dma::oracle;

namespace {

// A walk and a season of 7.5 steps: the textbook's states turn, without noise.
TextbookSeries walk_and_fixed_season() {
  constexpr double kPeriod = 7.5;
  TextbookSeries book{"walk + fixed season", {random_walk(0.2), fixed_season(kPeriod, 2)}, {}};
  KalmanModel& model = book.model;
  model.transition = Eigen::MatrixXd::Identity(5, 5), model.noise = Eigen::MatrixXd::Zero(5, 5);
  model.noise(0, 0) = 0.2;
  model.gain = Eigen::RowVectorXd{{1, 1, 0, 1, 0}}, model.first_gains = model.gain;
  model.mean = Eigen::VectorXd{{0.3, 0, 0, 0, 0}}, model.covariance = 20 * Eigen::MatrixXd::Identity(5, 5);
  model.seen_variance = 0.5;
  for (int j = 1; j <= 2; ++j) {
    const double angle = 2 * std::numbers::pi * j / kPeriod, c = std::cos(angle), s = std::sin(angle);
    model.transition.block<2, 2>(2 * j - 1, 2 * j - 1) = Eigen::Matrix2d{{c, s}, {-s, c}};
  }
  return book;
}

}  // namespace

TEST_CASE("state space: beliefs, forecasts and evidence are those of the textbook's recursions") {
  std::vector<TextbookSeries> books = textbook_series();
  books.push_back(walk_and_fixed_season());
  for (const TextbookSeries& book : books) {
    CAPTURE(book.name);
    const auto values = series_with_gaps(40);
    const StateSpace model(book.processes, {.observation_variance = 0.5, .start_mean = 0.3, .start_variance = 20});
    const std::size_t horizon = 7;
    const Smoothed found = model.smooth(values, horizon);
    auto longer = values;
    longer.resize(values.size() + horizon);
    const KalmanResult expected = kalman(book.model, longer);
    CHECK(found.log_evidence == oracle::relative(expected.log_evidence, 1e-9));
    REQUIRE(found.signal.mean.size() == longer.size());
    const std::size_t first = static_cast<std::size_t>(book.model.first_gains.rows()) - 1;
    for (std::size_t t = first; t < longer.size(); ++t) {
      const double variance = book.model.gain.dot(expected.covariances[t - first] * book.model.gain.transpose());
      CHECK(found.signal.mean[t] == oracle::relative(book.model.gain.dot(expected.means[t - first]), 1e-9));
      CHECK(found.signal.sd[t] == oracle::relative(std::sqrt(variance), 1e-9));
      CHECK(found.sd[t] == oracle::relative(std::sqrt(variance + 0.5), 1e-9));
    }
  }
}

TEST_CASE("state space: variances are learned to where the evidence is highest") {
  boost::random::mt19937_64 random(3);
  boost::random::normal_distribution<double> normal;
  std::vector<std::optional<double>> values;
  double level = 5;
  for (int t = 0; t < 2000; ++t) {
    level += std::sqrt(0.2) * normal(random);
    values.push_back(level + std::sqrt(1.5) * normal(random));
  }
  StateSpace model({random_walk()});
  const StateSpace::Learned learned = model.learn(values);
  CHECK(learned.converged);
  CHECK(model.variances()[0].value == oracle::relative(1.5, 0.1));
  CHECK(model.variances()[1].value == oracle::relative(0.2, 0.4));
  // No neighbour is more probable.
  for (const double more : {0.97, 1.03})
    for (const bool of_walk : {false, true}) {
      const double walk = model.variances()[1].value * (of_walk ? more : 1),
                   seen = model.variances()[0].value * (of_walk ? 1 : more);
      const auto start = model.start(values);
      const StateSpace neighbour({random_walk(walk)}, {seen, start.mean, start.variance});
      CHECK(neighbour.smooth(values).log_evidence < learned.log_evidence);
    }
}

TEST_CASE("state space: a season and a trend are separated") {
  std::vector<std::optional<double>> values;
  const double season[] = {3, 1, -2, -2};
  boost::random::mt19937_64 random(4);
  boost::random::normal_distribution<double> normal;
  for (std::size_t t = 0; t < 120; ++t)
    values.push_back(0.5 * static_cast<double>(t) + season[t % 4] + 0.3 * normal(random));
  StateSpace model({local_trend(), seasonal(4)});
  CHECK(model.learn(values).converged);
  const Smoothed found = model.smooth(values, 8);
  for (std::size_t t = 120; t < 128; ++t) {
    const double truth = 0.5 * static_cast<double>(t) + season[t % 4];
    CHECK(std::abs(found.signal.mean[t] - truth) < 4 * found.signal.sd[t]);
    CHECK(std::abs(found.signal.mean[t] - truth) < 0.6);
  }
  CHECK(found.states[1].name == "trend.slope");
  CHECK(found.states[1].mean[60] == oracle::relative(0.5, 0.1));
  CHECK(found.states[2].name == "season");
}

TEST_CASE("state space: wrong models and series are refused in one line") {
  CHECK_THROWS_WITH_AS(StateSpace({}), doctest::Contains("no process"), Error);
  CHECK_THROWS_WITH_AS(random_walk(-1.0), doctest::Contains("above 0"), Error);
  CHECK_THROWS_WITH_AS(seasonal(1), doctest::Contains("at least 2"), Error);
  CHECK_THROWS_WITH_AS(autoregressive({}), doctest::Contains("no coefficients"), Error);
  CHECK_THROWS_WITH_AS(StateSpace({random_walk()}, {.observation_variance = 0.0}), doctest::Contains("above 0"), Error);
  StateSpace model({random_walk()});
  const std::vector<std::optional<double>> two{1.0, std::nullopt, 2.0}, flat{1.0, 1.0, 1.0},
      broken{1.0, std::numeric_limits<double>::infinity(), 2.0};
  CHECK_THROWS_WITH_AS(model.learn(two), doctest::Contains("at least 3"), Error);
  CHECK_THROWS_WITH_AS(model.learn(flat), doctest::Contains("without variation"), Error);
  CHECK_THROWS_WITH_AS(model.learn(broken), doctest::Contains("value 2 is inf"), Error);
  CHECK_THROWS_WITH_AS(model.smooth(flat), doctest::Contains("learn()"), Error);
}

TEST_CASE("state space: intervals of forecasts from a few values hold as often as they say") {
  // A random walk with ten or thirty values: with fixed variances, intervals cover 0.77 to 0.85.
  boost::random::mt19937_64 random(17);
  boost::random::normal_distribution<double> normal;
  for (const std::size_t seen : {10u, 30u}) {
    constexpr int kSeries = 60, kAhead = 8;
    int inside = 0;
    for (int s = 0; s < kSeries; ++s) {
      std::vector<std::optional<double>> values;
      double level = 0;
      for (std::size_t t = 0; t < seen + kAhead; ++t) {
        level += 0.5 * normal(random);
        values.push_back(level + normal(random));
      }
      const double last = *values.back();
      values.resize(seen);
      StateSpace model({random_walk()});
      (void)model.learn(values);
      const Smoothed found = model.smooth(values, kAhead);
      inside += std::abs(last - found.signal.mean.back()) < 1.96 * found.sd.back();
    }
    CAPTURE(seen);
    CHECK(inside >= 55);
  }
}

TEST_CASE("state space: ordinary series of every length, far from 0 and with seasons, are solved") {
  for (const double offset : {0.0, 1e6, -1e9})
    for (const int length : {20, 100, offset < 0 ? 1000 : 400}) {
      CAPTURE(offset);
      CAPTURE(length);
      std::vector<std::optional<double>> values;
      for (int i = 1; i <= length; ++i) values.push_back(offset + (i * 7919 % 101) / 25.0 + 2 * std::sin(0.5 * i));
      for (const Process& process : {random_walk(), local_trend(), motion()}) {
        CAPTURE(process.name);
        if (length > 100 && process.name != (offset == 0 ? "walk" : offset > 0 ? "motion" : "trend")) continue;
        StateSpace model({process, seasonal(12)});
        (void)model.learn(values);
        const Smoothed found = model.smooth(values, 3);
        CHECK(std::abs(found.signal.mean.back() - offset) < 100);
        CHECK(found.sd.back() < 1000);
      }
    }
  // The same except for the offset.
  std::vector<std::optional<double>> near, far;
  for (int i = 0; i < 30; ++i) near.push_back(i * 13 % 7), far.push_back(*near.back() + 4096);
  StateSpace a({random_walk()}), b({random_walk()});
  (void)a.learn(near), (void)b.learn(far);
  CHECK(b.smooth(far, 2).signal.mean[31] - 4096 == oracle::relative(a.smooth(near, 2).signal.mean[31], 1e-9));
  CHECK(b.smooth(far, 2).states[0].mean[5] - 4096 == oracle::relative(a.smooth(near, 2).states[0].mean[5], 1e-9));
}

TEST_CASE("state space: a season that the series does not reach, and sizes that variances cannot have, are refused") {
  std::vector<std::optional<double>> values;
  for (int i = 0; i < 20; ++i) values.push_back(i * 13 % 7);
  StateSpace season({local_trend(), seasonal(21)});
  CHECK_THROWS_WITH_AS(
      season.learn(values),
      "series: 'season' looks back 20 steps, but the series has 20; give more values, or another model", Error);
  for (const double unit : {1e200, 1e307, 1e-200}) {
    std::vector<std::optional<double>> scaled;
    for (const auto& value : values) scaled.push_back(*value * unit);
    StateSpace walk({random_walk()});
    CHECK_THROWS_WITH_AS(walk.learn(scaled), doctest::Contains("change the units"), Error);
  }
}

TEST_CASE("state space: every solve is reported, and what the listener throws ends the work") {
  std::vector<std::optional<double>> values;
  for (int i = 0; i < 30; ++i) values.push_back(i * 13 % 7);
  int heard = 0, last = 0;
  double evidence = 0;
  StateSpace model({random_walk()}, {.on_solve = [&](int solves, double log_evidence) {
                     ++heard, last = solves, evidence = log_evidence;
                   }});
  const StateSpace::Learned learned = model.learn(values);
  CHECK(heard == last);
  CHECK(heard > learned.evaluations);  // the points around the summit are solved too
  CHECK(std::isfinite(evidence));
  (void)model.smooth(values);
  CHECK(last > 1);
  struct Enough {};
  StateSpace stopped({random_walk()}, {.on_solve = [](int solves, double) {
                       if (solves == 3) throw Enough{};
                     }});
  CHECK_THROWS_AS(stopped.learn(values), Enough);
}

TEST_CASE("state space: the predictive score is the textbook filter's for the later values") {
  for (const TextbookSeries& book : textbook_series()) {
    CAPTURE(book.name);
    const auto values = series_with_gaps(40);
    const std::span all(values);
    const StateSpace model(book.processes, {.observation_variance = 0.5, .start_mean = 0.3, .start_variance = 20});
    const double expected = kalman(book.model, values).log_evidence -
                            kalman(book.model, {values.begin(), values.begin() + 12}).log_evidence;
    CHECK(model.log_predictive(all, 12) == oracle::relative(expected, 1e-9));
  }
}

TEST_CASE("state space: the predictive score is integrated over the variances") {
  // One variance to learn: its integral by a sum over a fine grid.
  std::vector<std::optional<double>> values;
  for (int t = 0; t < 25; ++t) values.push_back(0.3 * t + std::sin(3.0 * t * t));
  StateSpace model({random_walk(0.2)});
  (void)model.learn(values);
  double square = 0, sum = 0;
  for (std::size_t t = 1; t < values.size(); ++t) square += std::pow(*values[t] - *values[t - 1], 2);
  const double usual = square / static_cast<double>(values.size() - 1), step = 0.02;
  const auto start = model.start(values);
  for (double log = -8; log < 8; log += step) {
    const double variance = usual * std::exp(log);
    const StateSpace at({random_walk(0.2)}, {variance, start.mean, start.variance});
    // A half Cauchy standard deviation: 1 / (pi (1 + f)) times the root of f, as a density of the variance's logarithm.
    const double prior = std::exp(0.5 * log) / (3.141592653589793 * (1 + std::exp(log)));
    sum += step * prior * std::exp(at.log_predictive(values, 6));
  }
  CHECK(model.log_predictive(values, 6) == oracle::relative(std::log(sum), 0.002));
}

TEST_CASE("state space: quantiles are those of the mixture") {
  Smoothed found;
  found.parts = {{0.25, false, {1}, {2}}, {0.75, true, {0.5}, {0.3}}};
  for (const double probability : {0.025, 0.3, 0.5, 0.975}) {
    const double at = found.quantile(0, probability);
    const double below = 0.25 * 0.5 * std::erfc((1 - at) / (2 * std::sqrt(2.0))) +
                         (at > 0 ? 0.75 * 0.5 * std::erfc((0.5 - std::log(at)) / (0.3 * std::sqrt(2.0))) : 0);
    CHECK(below == oracle::relative(probability, 1e-9));
  }
}

TEST_CASE("state space: posteriors are mixed by their moments") {
  // 0.2 N(1, 2^2) + 0.3 N(4, 1) + 0.5 N(-2, 3^2), added one after the other.
  const double weights[] = {0.2, 0.3, 0.5}, means[] = {1, 4, -2}, sds[] = {2, 1, 3};
  Smoothed all;
  double total = 0, mean = 0, square = 0;
  for (int i = 0; i < 3; ++i) {
    const Track track{"level", {means[i]}, {sds[i]}};
    total += weights[i];
    Smoothed one;
    one.signal = one.weights = track;
    one.sd = track.sd;
    one.states = {track};
    one.parts = {{1, false, track.mean, track.sd}};
    all.mix(std::move(one), weights[i] / total);
    mean += weights[i] * means[i];
    square += weights[i] * (means[i] * means[i] + sds[i] * sds[i]);
  }
  const double sd = std::sqrt(square - mean * mean);
  for (const Track& track : {all.signal, all.states[0], all.weights}) {
    CHECK(track.mean[0] == oracle::relative(mean, 1e-12));
    CHECK(track.sd[0] == oracle::relative(sd, 1e-12));
  }
  CHECK(all.sd[0] == oracle::relative(sd, 1e-12));
  for (int i = 0; i < 3; ++i)
    CHECK(all.parts[static_cast<std::size_t>(i)].weight == oracle::relative(weights[i], 1e-12));
}

TEST_CASE("state space: surprises are residuals without the value itself, and a level that jumps is named") {
  std::vector<std::optional<double>> values;
  for (int t = 0; t < 60; ++t) values.push_back((t < 40 ? 0 : 8) + 0.5 * std::sin(3.0 * t * t));
  values[15] = 6;
  const StateSpace model({random_walk(0.1)}, {.observation_variance = 0.3, .start_mean = 0.0, .start_variance = 100.0});
  const Smoothed found = model.smooth(values);
  for (const std::size_t t : {std::size_t{3}, std::size_t{15}, std::size_t{50}}) {
    auto without = values;
    without[t].reset();
    const Smoothed others = model.smooth(without);
    CHECK(found.value_surprise[t] == oracle::relative((*values[t] - others.signal.mean[t]) / others.sd[t], 1e-6));
  }
  CHECK(std::ranges::max_element(found.value_surprise) - found.value_surprise.begin() == 15);
  CHECK(std::ranges::max_element(found.level_surprise) - found.level_surprise.begin() == 40);
  CHECK(found.level_surprise[40] > 3.5);
}

TEST_CASE("state space: weights of inputs, beliefs and evidence are those of a dense Gaussian") {
  const auto values = series_with_gaps(20);
  const std::size_t length = 23;
  std::vector<double> price, holiday;
  for (std::size_t t = 0; t < length; ++t)
    price.push_back(3 + std::sin(1.7 * static_cast<double>(t))), holiday.push_back(t % 6 == 2);
  const StateSpace model({random_walk(0.2)}, {.observation_variance = 0.5,
                                              .start_mean = 0.3,
                                              .start_variance = 20,
                                              .inputs = {{"price", price}, {"holiday", holiday}}});
  const Smoothed found = model.smooth(values, 3);
  // All signals are N(mean, covariance) before the values: a level of 20 + 0.2 min(s, t), and weights times inputs.
  const auto n = static_cast<Eigen::Index>(length);
  Eigen::MatrixXd x(n, 2), covariance(n, n);
  for (Eigen::Index t = 0; t < n; ++t) {
    x(t, 0) = price[static_cast<std::size_t>(t)], x(t, 1) = holiday[static_cast<std::size_t>(t)];
    for (Eigen::Index s = 0; s < n; ++s) covariance(t, s) = 20 + 0.2 * static_cast<double>(std::min(s, t));
  }
  const Eigen::VectorXd prior = 20.0 * static_cast<double>(n) / x.colwise().squaredNorm().transpose().array();
  const Eigen::MatrixXd with_weights = x * prior.asDiagonal();
  covariance += with_weights * x.transpose();
  std::vector<Eigen::Index> seen;
  for (std::size_t t = 0; t < values.size(); ++t)
    if (values[t]) seen.push_back(static_cast<Eigen::Index>(t));
  Eigen::VectorXd apart(static_cast<Eigen::Index>(seen.size()));
  for (std::size_t i = 0; i < seen.size(); ++i)
    apart[static_cast<Eigen::Index>(i)] = *values[static_cast<std::size_t>(seen[i])] - 0.3;
  Eigen::MatrixXd of_seen = covariance(seen, seen);
  of_seen.diagonal().array() += 0.5;
  const Eigen::LLT<Eigen::MatrixXd> llt(of_seen);
  const Eigen::VectorXd solved = llt.solve(apart);
  const Eigen::VectorXd signal = covariance(Eigen::all, seen) * solved,
                        weights = with_weights(seen, Eigen::all).transpose() * solved;
  for (Eigen::Index t = 0; t < n; ++t)
    CHECK(found.signal.mean[static_cast<std::size_t>(t)] == oracle::relative(0.3 + signal[t], 1e-8));
  const Eigen::MatrixXd left =
      Eigen::MatrixXd(prior.asDiagonal()) -
      with_weights(seen, Eigen::all).transpose() * llt.solve(Eigen::MatrixXd(with_weights(seen, Eigen::all)));
  for (Eigen::Index j = 0; j < 2; ++j) {
    CHECK(found.weights.mean[static_cast<std::size_t>(j)] == oracle::relative(weights[j], 1e-8));
    CHECK(found.weights.sd[static_cast<std::size_t>(j)] == oracle::relative(std::sqrt(left(j, j)), 1e-8));
  }
  const double log_determinant = 2 * Eigen::MatrixXd(llt.matrixL()).diagonal().array().log().sum();
  CHECK(found.log_evidence == oracle::relative(-0.5 * (apart.dot(solved) + log_determinant +
                                                       static_cast<double>(seen.size()) * std::log(2 * M_PI)),
                                               1e-9));
  CHECK_THROWS_WITH_AS(model.smooth(values, 4), doctest::Contains("'price' has 23 values; 24 are expected"), Error);
}
