// Series against the textbook's recursions; see also series_filter_test.cpp.
#include "models/series/state_space.h"

#include <doctest/doctest.h>

#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <limits>

#include "engine/support/error.h"
#include "tests/models/series/textbook_series.h"

using namespace dma;
using namespace dma::oracle;

TEST_CASE("state space: beliefs, forecasts and evidence are those of the textbook's recursions") {
  for (const TextbookSeries& book : textbook_series()) {
    CAPTURE(book.name);
    const auto values = series_with_gaps(40);
    const StateSpace model(book.processes, {.observation_variance = 0.5, .start_mean = 0.3, .start_variance = 20});
    const std::size_t horizon = 7;
    const Smoothed found = model.smooth(values, horizon);
    auto longer = values;
    longer.resize(values.size() + horizon);
    const KalmanResult expected = kalman(book.model, longer);
    CHECK(found.log_evidence == doctest::Approx(expected.log_evidence).epsilon(1e-9));
    REQUIRE(found.signal.mean.size() == longer.size());
    const std::size_t first = static_cast<std::size_t>(book.model.first_gains.rows()) - 1;
    for (std::size_t t = first; t < longer.size(); ++t) {
      const double variance = book.model.gain.dot(expected.covariances[t - first] * book.model.gain.transpose());
      CHECK(found.signal.mean[t] == doctest::Approx(book.model.gain.dot(expected.means[t - first])).epsilon(1e-9));
      CHECK(found.signal.sd[t] == doctest::Approx(std::sqrt(variance)).epsilon(1e-9));
      CHECK(found.sd[t] == doctest::Approx(std::sqrt(variance + 0.5)).epsilon(1e-9));
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
  CHECK(model.variances()[0].value == doctest::Approx(1.5).epsilon(0.1));
  CHECK(model.variances()[1].value == doctest::Approx(0.2).epsilon(0.25));
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

TEST_CASE("state space: a season and a trend are told apart") {
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
  CHECK(found.states[1].mean[60] == doctest::Approx(0.5).epsilon(0.1));
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
  // A random walk of which ten or thirty values are seen: at the variances found alone, 0.77 to 0.85 hold.
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
    for (const int length : {20, 1000}) {
      CAPTURE(offset);
      CAPTURE(length);
      std::vector<std::optional<double>> values;
      for (int i = 1; i <= length; ++i) values.push_back(offset + (i * 7919 % 101) / 25.0 + 2 * std::sin(0.5 * i));
      for (const Process& process : {random_walk(), local_trend(), motion()}) {
        CAPTURE(process.name);
        StateSpace model({process, seasonal(12)});
        (void)model.learn(values);
        const Smoothed found = model.smooth(values, 3);
        CHECK(std::abs(found.signal.mean.back() - offset) < 100);
        CHECK(found.sd.back() < 1000);
      }
    }
  // The same but for the offset.
  std::vector<std::optional<double>> near, far;
  for (int i = 0; i < 30; ++i) near.push_back(i * 13 % 7), far.push_back(*near.back() + 4096);
  StateSpace a({random_walk()}), b({random_walk()});
  (void)a.learn(near), (void)b.learn(far);
  CHECK(b.smooth(far, 2).signal.mean[31] - 4096 == doctest::Approx(a.smooth(near, 2).signal.mean[31]).epsilon(1e-9));
  CHECK(b.smooth(far, 2).states[0].mean[5] - 4096 ==
        doctest::Approx(a.smooth(near, 2).states[0].mean[5]).epsilon(1e-9));
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
    CHECK_THROWS_WITH_AS(walk.learn(scaled), doctest::Contains("in other units"), Error);
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
  StateSpace stopped({random_walk()}, {.on_solve = [](int solves, double) { if (solves == 3) throw Enough{}; }});
  CHECK_THROWS_AS(stopped.learn(values), Enough);
}
