#include "models/mixtures/hidden_markov.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "engine/support/maximise.h"
#include "engine/support/text.h"
#include "models/mixtures/markov_graph.h"

namespace dma {

void check_distributions(std::string_view who, std::string_view what, const Eigen::MatrixXd& p, Eigen::Index rows,
                         Eigen::Index columns) {
  constexpr double kRounding = 1e-9;
  if (p.rows() != rows || p.cols() != columns || columns == 0)
    fail("{}: the {} is {} x {}; {} x {} is expected", who, what, p.rows(), p.cols(), rows,
         std::max<Eigen::Index>(columns, 1));
  for (Eigen::Index i = 0; i < p.rows(); ++i)
    if (!(p.row(i).minCoeff() >= 0 && std::abs(p.row(i).sum() - 1) < kRounding))
      fail("{}: row {} of the {} is [{}]; probabilities with sum 1 are expected", who, i + 1, what, joined(p.row(i)));
}

namespace {

constexpr std::string_view kHiddenMarkov = "hidden Markov model";

// Divides each row by its sum; a zero row keeps its previous values.
Eigen::MatrixXd fractions(const Eigen::MatrixXd& counts, const Eigen::MatrixXd& before) {
  Eigen::MatrixXd out = before;
  for (Eigen::Index i = 0; i < counts.rows(); ++i)
    if (const double sum = counts.row(i).sum(); sum > 0) out.row(i) = counts.row(i) / sum;
  return out;
}

// Sets the emission that makes the expected counts most probable.
void refit(SymbolEmission& emission, const Eigen::MatrixXd& probability, HiddenMarkov::Values values) {
  Eigen::MatrixXd counts = Eigen::MatrixXd::Zero(emission.probability.rows(), emission.probability.cols());
  for (std::size_t t = 0; t < values.size(); ++t)
    if (values[t])
      counts.col(static_cast<Eigen::Index>(*values[t])) += probability.row(static_cast<Eigen::Index>(t)).transpose();
  emission.probability = fractions(counts, emission.probability);
}
void refit(DensityEmission& emission, const Eigen::MatrixXd& probability, HiddenMarkov::Values values) {
  constexpr int kBits = 40;
  for (Eigen::Index i = 0; i < emission.parameter.size(); ++i) {
    const auto cost = [&](double parameter) {
      double sum = 0;
      for (std::size_t t = 0; t < values.size(); ++t)
        if (const double part = probability(static_cast<Eigen::Index>(t), i); values[t] && part > 0)
          sum -= part * emission.log_density(*values[t], parameter);
      return sum;
    };
    const Minimum found = minimise(cost, emission.low, emission.high, kBits);
    if (found.value < cost(emission.parameter[i])) emission.parameter[i] = found.at;
  }
}
void check_emission(const SymbolEmission& emission, Eigen::Index states) {
  check_distributions(kHiddenMarkov, "emission", emission.probability, states, emission.probability.cols());
}
void check_emission(const GaussianEmission& emission, Eigen::Index states) {
  if (emission.mean.size() != states || emission.variance.size() != states)
    fail("hidden Markov model: the emission has {} means and {} variances; one for each of {} states is expected",
         emission.mean.size(), emission.variance.size(), states);
  if (!emission.mean.allFinite() || !emission.variance.allFinite() || !(emission.variance.minCoeff() > 0))
    fail("hidden Markov model: finite means and variances above 0 are expected in the emission");
}
void check_emission(const DensityEmission& emission, Eigen::Index states) {
  if (emission.parameter.size() != states || !emission.log_density)
    fail("hidden Markov model: the emission has {} parameters{}; one for each of {} states is expected",
         emission.parameter.size(), emission.log_density ? "" : " and no log density", states);
  if (!(emission.parameter.minCoeff() >= emission.low && emission.parameter.maxCoeff() <= emission.high &&
        emission.high - emission.low < kInfinity))
    fail("hidden Markov model: parameters between {} and {} are expected in the emission", emission.low, emission.high);
}

void check_values(HiddenMarkov::Values values, const HiddenMarkov::Emission& emission) {
  if (values.empty()) fail("hidden Markov model: there are no values; at least one is expected");
  const auto* const symbols = std::get_if<SymbolEmission>(&emission);
  for (std::size_t t = 0; t < values.size(); ++t) {
    if (!values[t]) continue;
    if (symbols == nullptr && !std::isfinite(*values[t]))
      fail("hidden Markov model: value {} is {}; a finite number is expected, or nothing if it is missing", t + 1,
           *values[t]);
    if (symbols != nullptr && !(*values[t] >= 0 && *values[t] < static_cast<double>(symbols->probability.cols()) &&
                                *values[t] == std::floor(*values[t])))
      fail("hidden Markov model: value {} is {}; a symbol from 0 to {} is expected, or nothing if it is missing", t + 1,
           *values[t], symbols->probability.cols() - 1);
  }
}

}  // namespace

HiddenMarkov::HiddenMarkov(Eigen::VectorXd start, Eigen::MatrixXd transition, Emission emission)
    : start_(std::move(start)), transition_(std::move(transition)), emission_(std::move(emission)) {
  check_distributions(kHiddenMarkov, "start", start_.transpose(), 1, start_.size());
  check_distributions(kHiddenMarkov, "transition", transition_, start_.size(), start_.size());
  std::visit([&](const auto& of_state) { check_emission(of_state, start_.size()); }, emission_);
}

HiddenMarkov::Decoded HiddenMarkov::decode(Values values) const {
  check_values(values, emission_);
  // Two tables of states^3 numbers per step, from a state into a pair and out of it.
  constexpr double kMostNumbers = 5e7;  // 0.4 GB
  const double wide = static_cast<double>(states()),
               numbers = 2 * wide * wide * wide * static_cast<double>(values.size());
  if (numbers > kMostNumbers)
    fail(
        "hidden Markov model: {} states over {} steps take {:.2g} "
        "numbers; at most {:.2g} are possible, with fewer of either",
        states(), values.size(), numbers, kMostNumbers);
  return MarkovGraph(*this, values).solve();
}

HiddenMarkov::Learned HiddenMarkov::learn(Values values, const LearnOptions& options) {
  if (std::ranges::none_of(values, [](const auto& value) { return value.has_value(); }))
    fail("hidden Markov model: no value is there to learn from; at least one is expected");
  Decoded found = decode(values);
  Learned learned{found.log_evidence, 0, false};
  constexpr double kRounding = 1e-9;  // relative to the log evidence; EM never lowers it by more than rounding
  while (learned.iterations < options.limit && !learned.converged) {
    const HiddenMarkov before = *this;
    take(found, values);
    found = decode(values);
    ++learned.iterations;
    const double gain = found.log_evidence - learned.log_evidence;
    if (!(gain >= -kRounding * (1 + std::abs(learned.log_evidence)))) {
      learned.fault = fmt::format("step {} took the log evidence from {} to {}", learned.iterations,
                                  learned.log_evidence, found.log_evidence);
      *this = before;
      return learned;
    }
    learned.converged = gain < options.tolerance;
    learned.log_evidence = found.log_evidence;
  }
  return learned;
}

void HiddenMarkov::take(const Decoded& found, Values values) {
  start_ = found.probability.row(0).transpose() / found.probability.row(0).sum();
  transition_ = fractions(found.transitions, transition_);
  std::visit([&](auto& of_state) { refit(of_state, found.probability, values); }, emission_);
}

}  // namespace dma
