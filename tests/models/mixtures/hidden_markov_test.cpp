#include "models/mixtures/hidden_markov.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <boost/random/uniform_01.hpp>
#include <cmath>
#include <numbers>
#include <vector>

#include "engine/support/error.h"
#include "tests/oracles/relative.h"

namespace {

using namespace dma;

// Forward and backward over tables of probabilities, each step scaled to sum 1.
struct TextbookMarkov {
  Eigen::MatrixXd probability, transitions;
  double log_evidence = 0;

  // likelihood(t, i): likelihood of the value at step t in state i.
  TextbookMarkov(const Eigen::VectorXd& start, const Eigen::MatrixXd& transition, const Eigen::MatrixXd& likelihood)
      : probability(likelihood.rows(), likelihood.cols()),
        transitions(Eigen::MatrixXd::Zero(start.size(), start.size())) {
    const Eigen::Index steps = likelihood.rows();
    Eigen::MatrixXd forward(steps, start.size()), backward = Eigen::MatrixXd::Ones(steps, start.size());
    Eigen::VectorXd scale(steps);
    for (Eigen::Index t = 0; t < steps; ++t) {
      scale[t] = 0;
      for (Eigen::Index j = 0; j < start.size(); ++j) {
        double ahead = t == 0 ? start[j] : 0;
        for (Eigen::Index i = 0; t > 0 && i < start.size(); ++i) ahead += forward(t - 1, i) * transition(i, j);
        scale[t] += forward(t, j) = ahead * likelihood(t, j);
      }
      for (Eigen::Index j = 0; j < start.size(); ++j) forward(t, j) /= scale[t];
      log_evidence += std::log(scale[t]);
    }
    for (Eigen::Index t = steps - 1; t >= 0; --t)
      for (Eigen::Index i = 0; i < start.size(); ++i) {
        if (t + 1 < steps) backward(t, i) = 0;
        for (Eigen::Index j = 0; t + 1 < steps && j < start.size(); ++j) {
          const double both = transition(i, j) * likelihood(t + 1, j) * backward(t + 1, j) / scale[t + 1];
          backward(t, i) += both;
          transitions(i, j) += forward(t, i) * both;
        }
        probability(t, i) = forward(t, i) * backward(t, i);
      }
  }
};

using MarkovValues = std::vector<std::optional<double>>;

Eigen::MatrixXd symbol_likelihood(const Eigen::MatrixXd& emission, const MarkovValues& values) {
  Eigen::MatrixXd out = Eigen::MatrixXd::Ones(static_cast<Eigen::Index>(values.size()), emission.rows());
  for (std::size_t t = 0; t < values.size(); ++t)
    if (values[t])
      out.row(static_cast<Eigen::Index>(t)) = emission.col(static_cast<Eigen::Index>(*values[t])).transpose();
  return out;
}

Eigen::MatrixXd number_likelihood(const GaussianEmission& emission, const MarkovValues& values) {
  Eigen::MatrixXd out = Eigen::MatrixXd::Ones(static_cast<Eigen::Index>(values.size()), emission.mean.size());
  for (std::size_t t = 0; t < values.size(); ++t)
    for (Eigen::Index i = 0; values[t] && i < emission.mean.size(); ++i)
      out(static_cast<Eigen::Index>(t), i) =
          std::exp(-0.5 * std::pow(*values[t] - emission.mean[i], 2) / emission.variance[i]) /
          std::sqrt(2 * std::numbers::pi * emission.variance[i]);
  return out;
}

void check_decoded(const HiddenMarkov::Decoded& found, const TextbookMarkov& textbook) {
  CHECK(found.log_evidence == oracle::relative(textbook.log_evidence, 1e-12));
  CHECK((found.probability - textbook.probability).cwiseAbs().maxCoeff() < 1e-12);
  CHECK((found.transitions - textbook.transitions).cwiseAbs().maxCoeff() < 1e-11);
}

const Eigen::Vector3d kStart(0.5, 0.2, 0.3);
const Eigen::Matrix3d kTransition = (Eigen::Matrix3d() << 0.8, 0.1, 0.1, 0.0, 0.9, 0.1, 0.3, 0.3, 0.4).finished();

}  // namespace

TEST_CASE("hidden Markov model: forward and backward, symbols and numbers, some missing") {
  Eigen::MatrixXd emission(3, 4);
  emission << 0.7, 0.1, 0.1, 0.1, 0.0, 0.5, 0.25, 0.25, 0.1, 0.2, 0.3, 0.4;
  const MarkovValues symbols{0.0, 1.0, 2.0, std::nullopt, 3.0, 3.0, 0.0, std::nullopt, std::nullopt, 1.0, 2.0};
  check_decoded(HiddenMarkov(kStart, kTransition, SymbolEmission{emission}).decode(symbols),
                TextbookMarkov(kStart, kTransition, symbol_likelihood(emission, symbols)));
  const GaussianEmission gaussians{Eigen::Vector3d(-1, 0, 2), Eigen::Vector3d(0.5, 1, 2)};
  const MarkovValues numbers{-1.2, 0.3, std::nullopt, 2.5, 1.9, -0.4, -1.0, 3.3};
  check_decoded(HiddenMarkov(kStart, kTransition, gaussians).decode(numbers),
                TextbookMarkov(kStart, kTransition, number_likelihood(gaussians, numbers)));
}

TEST_CASE("hidden Markov model: one step of learning is that of Baum and Welch") {
  const GaussianEmission gaussians{Eigen::Vector3d(-1, 0, 2), Eigen::Vector3d(0.5, 1, 2)};
  const MarkovValues numbers{-1.2, 0.3, std::nullopt, 2.5, 1.9, -0.4, -1.0, 3.3, 0.1, 0.6};
  const TextbookMarkov textbook(kStart, kTransition, number_likelihood(gaussians, numbers));
  HiddenMarkov model(kStart, kTransition, gaussians);
  const auto learned = model.learn(numbers, {.limit = 1});
  CHECK(learned.iterations == 1);
  CHECK(learned.log_evidence > textbook.log_evidence);
  CHECK((model.start() - textbook.probability.row(0).transpose()).norm() < 1e-12);
  for (Eigen::Index i = 0; i < 3; ++i) {
    CHECK((model.transition().row(i) - textbook.transitions.row(i) / textbook.transitions.row(i).sum()).norm() < 1e-11);
    double count = 0, sum = 0, squares = 0;
    for (std::size_t t = 0; t < numbers.size(); ++t)
      if (numbers[t]) {
        const double p = textbook.probability(static_cast<Eigen::Index>(t), i);
        count += p, sum += p * *numbers[t], squares += p * *numbers[t] * *numbers[t];
      }
    const auto& found = std::get<GaussianEmission>(model.emission());
    CHECK(found.mean[i] == oracle::relative(sum / count, 1e-10));
    CHECK(found.variance[i] == oracle::relative(squares / count - std::pow(sum / count, 2), 1e-9));
  }
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
    std::vector<double> logs;
    std::vector<std::array<Eigen::Index, kSteps>> paths;
    for (unsigned steps = 0; steps < 1u << (kSteps - 1); ++steps) {  // one bit per step: whether it goes on
      std::array<Eigen::Index, kSteps> path{};
      double log = 0;
      for (std::size_t t = 0; t < kSteps && log > -HUGE_VAL; ++t) {
        if (t > 0) path[t] = path[t - 1] + (steps >> (t - 1) & 1);
        if (path[t] >= kStates) log = -HUGE_VAL;
        if (log == -HUGE_VAL) break;
        if (t > 0) log += std::log(transition(path[t - 1], path[t]));
        log += -0.5 * std::pow((*values[t] - emission.mean[path[t]]) / kSd, 2) -
               0.5 * std::log(2 * std::numbers::pi * kSd * kSd);
      }
      if (log > -HUGE_VAL) logs.push_back(log), paths.push_back(path);
    }
    const double largest = *std::ranges::max_element(logs);
    Eigen::MatrixXd probability = Eigen::MatrixXd::Zero(kSteps, kStates);
    double sum = 0;
    for (std::size_t p = 0; p < logs.size(); ++p) {
      const double weight = std::exp(logs[p] - largest);
      sum += weight;
      for (std::size_t t = 0; t < kSteps; ++t) probability(static_cast<Eigen::Index>(t), paths[p][t]) += weight;
    }
    const auto found = HiddenMarkov(start, transition, emission).decode(values);
    CHECK(found.log_evidence == oracle::relative(largest + std::log(sum), 1e-12));
    CHECK((found.probability - probability / sum).cwiseAbs().maxCoeff() < 1e-9);
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
