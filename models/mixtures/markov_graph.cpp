#include "models/mixtures/markov_graph.h"

#include <fmt/format.h>

#include <string>

#include "engine/compile/compile.h"
#include "engine/run/evidence.h"
#include "engine/run/run.h"
#include "engine/support/error.h"
#include "factors/standard_registry.h"
#include "schedules/forward_backward.h"

namespace dma {

namespace {

std::vector<double> row_by_row(const Eigen::MatrixXd& matrix) {
  std::vector<double> numbers;
  for (Eigen::Index i = 0; i < matrix.rows(); ++i)
    for (Eigen::Index j = 0; j < matrix.cols(); ++j) numbers.push_back(matrix(i, j));
  return numbers;
}

}  // namespace

MarkovGraph::MarkovGraph(const HiddenMarkov& model, std::size_t steps) : states_(model.states()) {
  const std::string state = fmt::format("categorical({})", states_),
                    pair = fmt::format("categorical({})", states_ * states_);
  const auto count = static_cast<Eigen::Index>(states_);
  Eigen::MatrixXd from = Eigen::MatrixXd::Zero(count, count * count),
                  to = Eigen::MatrixXd::Zero(count * count, count);
  for (Eigen::Index i = 0; i < count; ++i)
    for (Eigen::Index j = 0; j < count; ++j) {
      from(i, i * count + j) = model.transition()(i, j);
      to(i * count + j, j) = 1;
    }
  const std::vector<double> into_pair = row_by_row(from), out_of_pair = row_by_row(to);
  for (std::size_t t = 0; t < steps; ++t) {
    state_.push_back(graph_.variable(fmt::format("state{}", t), 1, state));
    if (t == 0) {
      graph_.factor("categorical_prior", {state_[0]}, {{"probability", row_by_row(model.start())}});
    } else {
      pair_.push_back(graph_.variable("", 1, pair));
      graph_.factor("table", {state_[t - 1], pair_.back()}, {{"probability", into_pair}});
      graph_.factor("table", {pair_.back(), state_[t]}, {{"probability", out_of_pair}});
    }
    std::visit([&](const auto& emission) { emit(t, emission); }, model.emission());
  }
}

HiddenMarkov::Decoded MarkovGraph::solve(HiddenMarkov::Values values) const {
  const Plan plan = compile(graph_, forward_backward(), standard_registry(), {.kind_methods = {{"mixture", "ep"}}});
  State state(plan);
  for (const auto& [variable, numbers] : means_) state.observe(variable, numbers);
  for (std::size_t t = 0; t < values.size(); ++t)
    if (values[t])
      state.observe(seen_[t], *values[t]);
    else
      state.observe(seen_[t], std::nullopt);
  const Report report = run(plan, state);
  const double evidence = log_evidence(plan, state);
  if (evidence == -kInfinity)
    fail(
        "hidden Markov model: the values are impossible: no sequence of states allows them; "
        "give the observed values a probability above 0 in the transitions or the emission");
  if (!report.converged()) fail("hidden Markov model: {}", report.line());
  const auto count = static_cast<Eigen::Index>(states_);
  HiddenMarkov::Decoded found{Eigen::MatrixXd(static_cast<Eigen::Index>(values.size()), count),
                              Eigen::MatrixXd::Zero(count, count), evidence};
  for (Eigen::Index i = 0; i < count; ++i) {
    for (std::size_t t = 0; t < values.size(); ++t)
      found.probability(static_cast<Eigen::Index>(t), i) =
          state.belief(state_[t]).mean(0, static_cast<std::size_t>(i));
    for (const VariableId pair : pair_)
      for (Eigen::Index j = 0; j < count; ++j)
        found.transitions(i, j) += state.belief(pair).mean(0, static_cast<std::size_t>(i * count + j));
  }
  return found;
}

void MarkovGraph::emit(std::size_t t, const SymbolEmission& emission) {
  seen_.push_back(graph_.observed("", 1, fmt::format("categorical({})", emission.probability.cols())));
  graph_.factor("table", {state_[t], seen_[t]}, {{"probability", row_by_row(emission.probability)}});
}

void MarkovGraph::emit(std::size_t t, const GaussianEmission& emission) {
  seen_.push_back(graph_.observed(""));
  means_.emplace_back(graph_.observed("", states_), row_by_row(emission.mean));
  graph_.factor("mixture", {state_[t], means_.back().first, seen_[t]}, {{"variance", row_by_row(emission.variance)}});
}

}  // namespace dma
