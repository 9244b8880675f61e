// Rows of a table as a TableLearner prepares them.
#include <algorithm>

#include "engine/learn/gaussian/learner_data.h"
#include "models/learn/level_effects.h"
#include "models/learn/mixing.h"
#include "models/learn/table_learner.h"
#include "models/table/log_scale.h"
#include "models/table/noise.h"

namespace dma {

std::vector<Index> TableLearner::number_columns() const {
  std::vector<Index> all;
  for (Index j = 0; j < inputs_.shift.size(); ++j)
    if (options_.levels.empty() || options_.levels[static_cast<std::size_t>(j)] == 0) all.push_back(j);
  return all;
}

Eigen::MatrixXd TableLearner::numbers_of(const Eigen::MatrixXd& inputs) const {
  if (options_.levels.empty()) return inputs;
  Eigen::MatrixXd numbers = inputs(Eigen::all, number_columns());
  if (numbers.cols() < number_count()) numbers.setZero(inputs.rows(), 1);
  return numbers;
}

Eigen::MatrixXd TableLearner::prepared(const Eigen::MatrixXd& inputs, const Eigen::MatrixXd& standardised) const {
  Eigen::MatrixXd mapped = features_.apply(numbers_of(standardised));
  if (directions_.used()) mapped = directions_.apply(mapped);
  for (const LevelEffects& own : effects_) {
    mapped.conservativeResize(Eigen::NoChange, mapped.cols() + 1);
    mapped.rightCols(1) = own.numbers_of(inputs.col(static_cast<Index>(own.column)));
  }
  return mapped;
}

Vector TableLearner::relevance() const {
  const Vector& of_numbers = graphs_->mixture().memory().choice.relevance;
  if (of_numbers.size() == 0) return {};
  Vector all = Vector::Ones(inputs_.shift.size());
  all(number_columns()) = of_numbers;
  return all;
}

PreparedColumns TableLearner::columns() const {
  const std::vector<Index> numbers = number_columns();
  PreparedColumns all{directions_.used() ? static_cast<std::size_t>(directions_.basis.cols()) + 1
                                         : features_.outputs(static_cast<std::size_t>(number_count())),
                      effects_};
  for (LevelEffects& own : all.levels)
    for (std::size_t& slope : own.slopes)
      slope = static_cast<std::size_t>(std::ranges::lower_bound(numbers, static_cast<Index>(slope)) - numbers.begin());
  return all;
}

std::vector<LevelEffects> TableLearner::find_effects(const TableRows& rows) const {
  if (!options_.finds_effects || !effects_.empty() || options_.features != "none") return {};
  Identifiers identifiers{possible_identifiers(rows.inputs, options_.levels)};
  if (options_.levels.empty() && identifiers.columns.empty()) return {};
  const Eigen::MatrixXd targets =
      options_.classes > 0 ? one_column_per_class(rows.targets, options_.classes) : targets_.apply(rows.targets);
  const bool has_rest = left_out_residuals_.rows() == rows.targets.rows();
  identifiers.inputs = rows.inputs, identifiers.targets = has_rest ? left_out_residuals_ : targets;
  std::vector<LevelEffects> found =
      level_effects(inputs_.apply(rows.inputs), options_.levels, targets, options_.seed, rows.weights, identifiers);
  for (LevelEffects& own : found)
    if (directions_.used()) own.slopes.clear();
  return found;
}

void TableLearner::standardise(const TableRows& rows) {
  const Index columns = rows.inputs.cols();
  if (!options_.standardise) {
    inputs_ = Standardiser::identity(columns);
    return;
  }
  Eigen::RowVectorXd log_from;
  if (options_.log_inputs && options_.features == "none" && options_.directions == 0) {
    const Eigen::MatrixXd smooth =
        options_.classes > 0 ? one_column_per_class(rows.targets, options_.classes) : rows.targets;
    const Eigen::RowVectorXd of_numbers = log_scales_of(numbers_of(rows.inputs), smooth, options_.seed, rows.weights);
    if (const std::vector<Index> which = number_columns(); of_numbers.size() > 0 && !which.empty()) {
      log_from.setZero(columns);
      log_from(which) = of_numbers;
    }
  }
  inputs_ = Standardiser::of(rows.inputs, rows.weights, log_from);
  for (std::size_t j = 0; j < options_.levels.size(); ++j)
    if (options_.levels[j] > 0) inputs_.shift(static_cast<Index>(j)) = 0, inputs_.scale(static_cast<Index>(j)) = 1;
  if (options_.classes == 0) targets_ = Standardiser::of(rows.targets, rows.weights, log_from_);
}

RowData TableLearner::data_of(const TableRows& rows) const {
  const SharedModel& graph = graphs_->mixture().model();
  RowData data{prepared(rows.inputs, inputs_.apply(rows.inputs)),
               coded_targets(targets_.apply(rows.targets), graph.likelihoods, graph.rows->outputs(), "fit"),
               rows.weights, graph.likelihoods};
  if (options_.standardise && options_.classes == 0) data.least_noise = least_noise_of(rows.targets, targets_);
  data.choices = std::ssize(effects_);
  return data;
}

}  // namespace dma
