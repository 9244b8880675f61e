#include "models/mixtures/markov_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "engine/compile/compile.h"
#include "engine/run/run.h"
#include "engine/support/text.h"
#include "factors/standard_registry.h"
#include "schedules/schedules.h"

namespace dma {

namespace {

std::vector<double> row_by_row(const Eigen::MatrixXd& matrix) {
  std::vector<double> numbers;
  for (Eigen::Index i = 0; i < matrix.rows(); ++i)
    for (Eigen::Index j = 0; j < matrix.cols(); ++j) numbers.push_back(matrix(i, j));
  return numbers;
}

}  // namespace

MarkovGraph::MarkovGraph(const HiddenMarkov& model, HiddenMarkov::Values values) : states_(model.states()) {
  const std::string state = fmt::format("categorical({})", states_),
                    pair = fmt::format("categorical({})", states_ * states_);
  const auto count = static_cast<Eigen::Index>(states_);
  Eigen::MatrixXd from = Eigen::MatrixXd::Zero(count, count * count), to = Eigen::MatrixXd::Zero(count * count, count);
  for (Eigen::Index i = 0; i < count; ++i)
    for (Eigen::Index j = 0; j < count; ++j) {
      from(i, i * count + j) = model.transition()(i, j);
      to(i * count + j, j) = 1;
    }
  const std::vector<double> into_pair = row_by_row(from), out_of_pair = row_by_row(to);
  for (std::size_t t = 0; t < values.size(); ++t) {
    state_.push_back(graph_.variable(fmt::format("state{}", t), 1, state));
    if (t == 0) {
      graph_.factor("categorical_prior", {state_[0]}, {{"probability", row_by_row(model.start())}});
    } else {
      pair_.push_back(graph_.variable("", 1, pair));
      graph_.factor("table", {state_[t - 1], pair_.back()}, {{"probability", into_pair}});
      graph_.factor("table", {pair_.back(), state_[t]}, {{"probability", out_of_pair}});
    }
    std::visit([&](const auto& emission) { emit(emission, values[t]); }, model.emission());
  }
}

HiddenMarkov::Decoded MarkovGraph::solve() const {
  const Plan plan = compile(graph_, forward_backward(), standard_registry(), {.kind_methods = {{"mixture", "ep"}}});
  State state(plan);
  for (const auto& [variable, numbers] : seen_) state.observe(variable, numbers);
  const Report report = run(plan, state);
  const double evidence = log_evidence(plan, state) + log_scale_;
  if (evidence == -kInfinity)
    fail(
        "hidden Markov model: the values are impossible: no sequence of states allows them; "
        "give the observed values a probability above 0 in the transitions or the emission");
  if (!report.converged()) fail("hidden Markov model: {}", report.line());
  const auto count = static_cast<Eigen::Index>(states_);
  HiddenMarkov::Decoded found{Eigen::MatrixXd(static_cast<Eigen::Index>(state_.size()), count),
                              Eigen::MatrixXd::Zero(count, count), evidence};
  for (Eigen::Index i = 0; i < count; ++i) {
    for (std::size_t t = 0; t < state_.size(); ++t)
      found.probability(static_cast<Eigen::Index>(t), i) = state.belief(state_[t]).mean(0, static_cast<std::size_t>(i));
    for (const VariableId pair : pair_)
      for (Eigen::Index j = 0; j < count; ++j)
        found.transitions(i, j) += state.belief(pair).mean(0, static_cast<std::size_t>(i * count + j));
  }
  return found;
}

void MarkovGraph::emit(const SymbolEmission& emission, std::optional<double> value) {
  seen_.push_back({graph_.observed("", 1, fmt::format("categorical({})", emission.probability.cols())), {value}});
  graph_.factor("table", {state_.back(), seen_.back().first}, {{"probability", row_by_row(emission.probability)}});
}

void MarkovGraph::emit(const GaussianEmission& emission, std::optional<double> value) {
  const VariableId means = graph_.observed("", states_), seen = graph_.observed("");
  seen_.push_back({means, {emission.mean.begin(), emission.mean.end()}});
  seen_.push_back({seen, {value}});
  graph_.factor("mixture", {state_.back(), means, seen}, {{"variance", row_by_row(emission.variance)}});
}

// The second of two symbols, whose probabilities are proportional to the densities.
void MarkovGraph::emit(const DensityEmission& emission, std::optional<double> value) {
  if (!value) return;
  std::vector<double> logs, symbols;
  for (const double parameter : emission.parameter) {
    logs.push_back(emission.log_density(*value, parameter));
    if (std::isnan(logs.back()) || logs.back() == kInfinity)
      fail("hidden Markov model: the log density of the value {} is {}; a finite number is expected", *value,
           logs.back());
  }
  const double highest = *std::ranges::max_element(logs);
  for (const double log : logs) {
    const double part = highest > -kInfinity ? std::exp(log - highest) : 0;
    symbols.insert(symbols.end(), {1 - part, part});
  }
  if (highest > -kInfinity) log_scale_ += highest;
  seen_.push_back({graph_.observed("", 1, "categorical(2)"), {1.0}});
  graph_.factor("table", {state_.back(), seen_.back().first}, {{"probability", symbols}});
}

}  // namespace dma
