#include "models/mixtures/hidden_markov.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <boost/random/uniform_01.hpp>
#include <cmath>
#include <functional>
#include <numbers>
#include <utility>
#include <vector>

#include "engine/support/text.h"
#include "tests/oracles/relative.h"

namespace {

using namespace dma;

// All sequences of states one by one, in logarithms. log_likelihood(t, i): of the value at step t in state i.
class EveryPath {
 public:
  Eigen::MatrixXd probability, transitions;
  double log_evidence = 0;

  EveryPath(const Eigen::VectorXd& start, const Eigen::MatrixXd& transition, Eigen::MatrixXd log_likelihood)
      : probability(Eigen::MatrixXd::Zero(log_likelihood.rows(), start.size())),
        transitions(Eigen::MatrixXd::Zero(start.size(), start.size())),
        start_(start.array().log()),
        transition_(transition.array().log()),
        log_likelihood_(std::move(log_likelihood)) {
    visit(0, [this](double log) { largest_ = std::max(largest_, log); });
    double all = 0;
    visit(0, [&](double log) {
      const double weight = std::exp(log - largest_);
      all += weight;
      for (std::size_t t = 0; t < path_.size(); ++t) {
        probability(static_cast<Eigen::Index>(t), path_[t]) += weight;
        if (t > 0) transitions(path_[t - 1], path_[t]) += weight;
      }
    });
    probability /= all;
    transitions /= all;
    log_evidence = largest_ + std::log(all);
  }

 private:
  void visit(double log, const std::function<void(double)>& whole) {
    const auto t = static_cast<Eigen::Index>(path_.size());
    if (t == log_likelihood_.rows()) return whole(log);
    for (Eigen::Index i = 0; i < start_.size(); ++i) {
      const double next = log + (t == 0 ? start_[i] : transition_(path_.back(), i)) + log_likelihood_(t, i);
      if (next == -HUGE_VAL) continue;
      path_.push_back(i);
      visit(next, whole);
      path_.pop_back();
    }
  }

  Eigen::VectorXd start_;
  Eigen::MatrixXd transition_, log_likelihood_;
  double largest_ = -HUGE_VAL;
  std::vector<Eigen::Index> path_;
};

using MarkovValues = std::vector<std::optional<double>>;

Eigen::MatrixXd symbol_likelihood(const Eigen::MatrixXd& emission, const MarkovValues& values) {
  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(values.size()), emission.rows());
  for (std::size_t t = 0; t < values.size(); ++t)
    if (values[t])
      out.row(static_cast<Eigen::Index>(t)) =
          emission.col(static_cast<Eigen::Index>(*values[t])).array().log().transpose();
  return out;
}

Eigen::MatrixXd number_likelihood(const GaussianEmission& emission, const MarkovValues& values) {
  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(values.size()), emission.mean.size());
  for (std::size_t t = 0; t < values.size(); ++t)
    for (Eigen::Index i = 0; values[t] && i < emission.mean.size(); ++i)
      out(static_cast<Eigen::Index>(t), i) = -0.5 * std::pow(*values[t] - emission.mean[i], 2) / emission.variance[i] -
                                             0.5 * std::log(2 * std::numbers::pi * emission.variance[i]);
  return out;
}

void check_decoded(const HiddenMarkov::Decoded& found, const EveryPath& paths, double tolerance = 1e-11) {
  CHECK(found.log_evidence == oracle::relative(paths.log_evidence, 1e-12));
  CHECK((found.probability - paths.probability).cwiseAbs().maxCoeff() < tolerance);
  CHECK((found.transitions - paths.transitions).cwiseAbs().maxCoeff() < 10 * tolerance);
}

const Eigen::Vector3d kStart(0.5, 0.2, 0.3);
const Eigen::Matrix3d kTransition = (Eigen::Matrix3d() << 0.8, 0.1, 0.1, 0.0, 0.9, 0.1, 0.3, 0.3, 0.4).finished();

}  // namespace

TEST_CASE("hidden Markov model: forward and backward, symbols and numbers, some missing") {
  Eigen::MatrixXd emission(3, 4);
  emission << 0.7, 0.1, 0.1, 0.1, 0.0, 0.5, 0.25, 0.25, 0.1, 0.2, 0.3, 0.4;
  const MarkovValues symbols{0.0, 1.0, 2.0, std::nullopt, 3.0, 3.0, 0.0, std::nullopt, std::nullopt, 1.0, 2.0};
  check_decoded(HiddenMarkov(kStart, kTransition, SymbolEmission{emission}).decode(symbols),
                EveryPath(kStart, kTransition, symbol_likelihood(emission, symbols)));
  const GaussianEmission gaussians{Eigen::Vector3d(-1, 0, 2), Eigen::Vector3d(0.5, 1, 2)};
  const MarkovValues numbers{-1.2, 0.3, std::nullopt, 2.5, 1.9, -0.4, -1.0, 3.3};
  check_decoded(HiddenMarkov(kStart, kTransition, gaussians).decode(numbers),
                EveryPath(kStart, kTransition, number_likelihood(gaussians, numbers)));
}

TEST_CASE("hidden Markov model: one step of learning is that of Baum and Welch") {
  const GaussianEmission gaussians{Eigen::Vector3d(-1, 0, 2), Eigen::Vector3d(0.5, 1, 2)};
  const MarkovValues numbers{-1.2, 0.3, std::nullopt, 2.5, 1.9, -0.4, -1.0, 3.3, 0.1, 0.6};
  const EveryPath paths(kStart, kTransition, number_likelihood(gaussians, numbers));
  HiddenMarkov model(kStart, kTransition, gaussians);
  const auto learned = model.learn(numbers, {.limit = 1});
  CHECK(learned.iterations == 1);
  CHECK(learned.log_evidence > paths.log_evidence);
  CHECK((model.start() - paths.probability.row(0).transpose()).norm() < 1e-12);
  for (Eigen::Index i = 0; i < 3; ++i) {
    CHECK((model.transition().row(i) - paths.transitions.row(i) / paths.transitions.row(i).sum()).norm() < 1e-11);
    double count = 0, sum = 0, squares = 0;
    for (std::size_t t = 0; t < numbers.size(); ++t)
      if (numbers[t]) {
        const double p = paths.probability(static_cast<Eigen::Index>(t), i);
        count += p, sum += p * *numbers[t], squares += p * *numbers[t] * *numbers[t];
      }
    const auto& found = std::get<GaussianEmission>(model.emission());
    CHECK(found.mean[i] == oracle::relative(sum / count, 1e-10));
    CHECK(found.variance[i] == oracle::relative(squares / count - std::pow(sum / count, 2), 1e-9));
  }
}

TEST_CASE("hidden Markov model: counts by their density, decoded as by every path, learned to weighted means") {
  const DensityEmission counts{Eigen::Vector3d(0.5, 2, 9),
                               [](double y, double rate) { return y * std::log(rate) - rate - std::lgamma(y + 1); },
                               1e-6, 100};
  const MarkovValues values{0.0, 1.0, 0.0, std::nullopt, 12.0, 7.0, 2.0, 3.0, 1.0, 40.0};
  Eigen::MatrixXd likelihood = Eigen::MatrixXd::Zero(10, 3);
  for (Eigen::Index t = 0; t < 10; ++t)
    for (Eigen::Index i = 0; i < 3; ++i)
      if (const auto& y = values[static_cast<std::size_t>(t)])
        likelihood(t, i) = counts.log_density(*y, counts.parameter[i]);
  HiddenMarkov model(kStart, kTransition, counts);
  const EveryPath paths(kStart, kTransition, likelihood);
  check_decoded(model.decode(values), paths);
  (void)model.learn(values, {.limit = 1});
  for (Eigen::Index i = 0; i < 3; ++i) {
    double count = 0, sum = 0;
    for (std::size_t t = 0; t < values.size(); ++t)
      if (values[t]) {
        const double p = paths.probability(static_cast<Eigen::Index>(t), i);
        count += p, sum += p * *values[t];
      }
    CHECK(std::get<DensityEmission>(model.emission()).parameter[i] == oracle::relative(sum / count, 1e-6));
  }
  CHECK_THROWS_AS(HiddenMarkov(kStart, kTransition, DensityEmission{Eigen::Vector2d(1, 2), counts.log_density, 0, 9}),
                  Error);
}

TEST_CASE("hidden Markov model: two regimes are found, and symbols never seen have no probability") {
  boost::random::mt19937_64 random(5);
  boost::random::normal_distribution<double> normal;
  boost::random::uniform_01<double> uniform;
  MarkovValues numbers, symbols;
  std::vector<int> truth;
  int state = 0;
  for (int t = 0; t < 300; ++t) {
    if (uniform(random) < 0.05) state = 1 - state;
    truth.push_back(state);
    numbers.push_back((state == 0 ? -1.5 : 1.5) + normal(random));
    symbols.push_back(uniform(random) < (state == 0 ? 0.9 : 0.2) ? 0.0 : 1.0);
  }
  const Eigen::Matrix2d even = (Eigen::Matrix2d() << 0.6, 0.4, 0.4, 0.6).finished();
  HiddenMarkov model(Eigen::Vector2d(0.5, 0.5), even,
                     GaussianEmission{Eigen::Vector2d(-0.5, 0.5), Eigen::Vector2d(2, 2)});
  const auto learned = model.learn(numbers);
  CHECK(learned.converged);
  CHECK(model.transition()(0, 0) > 0.9);
  const auto found = model.decode(numbers);
  CHECK(found.log_evidence == oracle::relative(learned.log_evidence, 1e-12));
  int right = 0;
  for (std::size_t t = 0; t < truth.size(); ++t)
    right += (found.probability(static_cast<Eigen::Index>(t), 1) > 0.5) == (truth[t] == 1);
  CHECK(right > 280);
  Eigen::MatrixXd emission(2, 3);
  emission << 0.6, 0.3, 0.1, 0.3, 0.6, 0.1;
  HiddenMarkov of_symbols(Eigen::Vector2d(0.5, 0.5), even, SymbolEmission{emission});
  (void)of_symbols.learn(symbols, {.limit = 30});
  const auto& seen = std::get<SymbolEmission>(of_symbols.emission()).probability;
  CHECK(seen.col(2).norm() == 0);
  CHECK(seen(0, 0) > 0.7);
  CHECK(seen(1, 0) < 0.4);
}

TEST_CASE(
    "hidden Markov model: from left to right, narrow emissions: all paths one by one, whatever their probability") {
  // Arbitrary values, with states 1 apart and a standard deviation of 0.05: paths differ by thousands of nats.
  constexpr Eigen::Index kStates = 5;
  constexpr std::size_t kSteps = 9;
  constexpr double kSd = 0.05;
  Eigen::MatrixXd transition = Eigen::MatrixXd::Zero(kStates, kStates);
  for (Eigen::Index i = 0; i < kStates; ++i) {
    transition(i, i) = i + 1 < kStates ? 0.6 : 1.0;
    if (i + 1 < kStates) transition(i, i + 1) = 0.4;
  }
  const Eigen::VectorXd start = Eigen::VectorXd::Unit(kStates, 0);
  const GaussianEmission emission{Eigen::VectorXd::LinSpaced(kStates, 0, kStates - 1),
                                  Eigen::VectorXd::Constant(kStates, kSd * kSd)};
  boost::random::mt19937_64 random(3);
  boost::random::uniform_01<double> uniform;
  for (int series = 0; series < 40; ++series) {
    MarkovValues values;
    for (std::size_t t = 0; t < kSteps; ++t) values.push_back((kStates - 1) * uniform(random));
    check_decoded(HiddenMarkov(start, transition, emission).decode(values),
                  EveryPath(start, transition, number_likelihood(emission, values)), 1e-9);
  }
}

TEST_CASE("hidden Markov model: no step of learning lets the evidence fall, and what is impossible is called so") {
  boost::random::mt19937_64 random(8);
  boost::random::normal_distribution<double> normal;
  MarkovValues values;
  for (int t = 0; t < 60; ++t) values.push_back(t / 12 + 0.02 * normal(random));  // five plateaus
  Eigen::MatrixXd transition = Eigen::MatrixXd::Zero(5, 5);
  for (Eigen::Index i = 0; i < 5; ++i)
    transition(i, i) = i < 4 ? 0.9 : 1, transition(i, std::min<Eigen::Index>(i + 1, 4)) += i < 4 ? 0.1 : 0;
  // Too narrow at the wrong places, and one narrower than the minimum.
  Eigen::VectorXd variance = Eigen::VectorXd::Constant(5, 4e-4);
  variance[2] = 1e-9;
  HiddenMarkov model(Eigen::VectorXd::Unit(5, 0), transition,
                     GaussianEmission{(Eigen::VectorXd(5) << -1, 0.3, 1.1, 2, 6).finished(), variance});
  const double at_first = model.decode(values).log_evidence;
  double before = at_first;
  for (int step = 0; step < 30; ++step) {
    const auto learned = model.learn(values, {.limit = 1});
    CHECK(learned.fault.empty());
    CHECK(learned.log_evidence >= before - 1e-9 * std::abs(before));
    CHECK(model.decode(values).log_evidence == oracle::relative(learned.log_evidence, 1e-12));
    before = learned.log_evidence;
  }
  CHECK(before > at_first + 1000);
  // Values at the means, in states narrower than the minimum: learning neither gains nor loses.
  MarkovValues plateaus;
  for (int t = 0; t < 12; ++t) plateaus.push_back(t / 4);
  const Eigen::MatrixXd to_the_right = (Eigen::MatrixXd(3, 3) << 0.75, 0.25, 0, 0, 0.75, 0.25, 0, 0, 1).finished();
  HiddenMarkov narrow(Eigen::VectorXd::Unit(3, 0), to_the_right,
                      GaussianEmission{Eigen::Vector3d(0, 1, 2), Eigen::Vector3d::Constant(1e-9)});
  const double of_narrow = narrow.decode(plateaus).log_evidence;
  CHECK(narrow.learn(plateaus).converged);
  CHECK(narrow.decode(plateaus).log_evidence >= of_narrow - 1e-9 * of_narrow);
  const HiddenMarkov forward(Eigen::Vector2d(1, 0), (Eigen::Matrix2d() << 0.5, 0.5, 0, 1).finished(),
                             SymbolEmission{Eigen::Matrix2d::Identity()});
  CHECK(forward.decode(MarkovValues{0.0, 1.0, 1.0}).log_evidence == doctest::Approx(std::log(0.5)));
  CHECK_THROWS_WITH_AS(
      forward.decode(MarkovValues{0.0, 1.0, 0.0}),
      doctest::Contains("hidden Markov model: the values are impossible: no sequence of states allows them"), Error);
}

TEST_CASE("hidden Markov model: wrong numbers are one clear line") {
  const Eigen::MatrixXd emission = Eigen::MatrixXd::Constant(3, 2, 0.5);
  const HiddenMarkov model(kStart, kTransition, SymbolEmission{emission});
  CHECK_THROWS_WITH_AS(HiddenMarkov(Eigen::Vector2d(0.5, 0.5), kTransition, SymbolEmission{emission}),
                       "hidden Markov model: the transition is 3 x 3; 2 x 2 is expected", Error);
  CHECK_THROWS_WITH_AS(
      HiddenMarkov(Eigen::Vector3d(0.5, 0.2, 0.2), kTransition, SymbolEmission{emission}),
      "hidden Markov model: row 1 of the start is [0.5, 0.2, 0.2]; probabilities with sum 1 are expected", Error);
  CHECK_THROWS_WITH_AS(
      model.decode(MarkovValues{0.0, 2.0}),
      "hidden Markov model: value 2 is 2; a symbol from 0 to 1 is expected, or nothing if it is missing", Error);
  CHECK_THROWS_WITH_AS(model.decode({}), doctest::Contains("no values"), Error);
  CHECK_THROWS_WITH_AS(HiddenMarkov(kStart, kTransition, GaussianEmission{kStart, Eigen::Vector3d(1, 0, 1)}),
                       doctest::Contains("above 0"), Error);
  const HiddenMarkov wide(Eigen::VectorXd::Constant(400, 1.0 / 400), Eigen::MatrixXd::Constant(400, 400, 1.0 / 400),
                          SymbolEmission{Eigen::MatrixXd::Constant(400, 2, 0.5)});
  CHECK_THROWS_WITH_AS(wide.decode(MarkovValues{0.0, 1.0}), doctest::Contains("400 states over 2 steps"), Error);
  HiddenMarkov learner = model;
  CHECK_THROWS_WITH_AS(learner.learn(MarkovValues{std::nullopt, std::nullopt}), doctest::Contains("to learn from"),
                       Error);
}
