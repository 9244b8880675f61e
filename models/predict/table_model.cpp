#include "models/predict/table_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/support/text.h"
#include "models/learn/mixing.h"
#include "models/learn/table_learner.h"
#include "models/network/message_network.h"

namespace dma {

namespace {

// A prediction off by so many of its standard deviations, in the mean square of all rows, is no accident.
constexpr double kDoubtful = 10;

std::vector<Eigen::Index> classes_of(const Eigen::MatrixXd& numbers) {
  std::vector<Eigen::Index> all;
  for (const double number : numbers.col(0)) all.push_back(static_cast<Eigen::Index>(number));
  return all;
}

// Effects of values, in words.
std::string text_of(const std::vector<LevelEffects>& effects, const std::vector<std::string>& features) {
  std::vector<std::string> all;
  for (const LevelEffects& own : effects) {
    std::vector<std::string> slopes;
    for (const std::size_t slope : own.slopes) slopes.push_back("'" + features[slope] + "'");
    all.push_back(fmt::format("each of {} values of '{}' has its own level{}{}", own.levels, features[own.column],
                              slopes.empty() ? "" : " and slope in ", joined(slopes, " and ")));
  }
  return printable(joined(all, "; "));
}

// Beliefs of weights are proper, and the noise is a positive number: otherwise the model would be refused later.
void check_usable(const TableModel& model) {
  const std::string_view repair = repair_of_numbers(model.standardises());
  for (const LearnedVariable& own : model.method().variables())
    for (std::size_t i = 0; i < own.beliefs.size(); ++i)
      if (!is_valid(own.beliefs[i]) || own.beliefs[i].is_uniform() || !std::isfinite(own.beliefs[i].mean()))
        fail("the fit failed: element {} of {} overflows; the numbers are beyond what the priors can reach: {}", i,
             own.name, repair);
  for (const double sd : model.method().noise())
    if (!std::isnan(sd) && (!(sd > 0) || !std::isfinite(sd)))
      fail("the fit failed: the noise overflows or vanishes; the numbers are beyond what the priors can reach: {}",
           repair);
}

}  // namespace

std::string_view repair_of_numbers(bool standardised) {
  return standardised
             ? "look for values far from all others, or widen the priors (--prior-scale)"
             : "let columns be standardised (--standardise), use other units, or widen the priors (--prior-scale)";
}

double root_mean_square(const Eigen::ArrayXd& values) {
  const double largest = values.abs().maxCoeff();
  return largest > 0 && std::isfinite(largest) ? largest * std::sqrt((values / largest).square().mean()) : largest;
}

void check_prediction(const Prediction& p, const std::vector<std::string>& targets, Eigen::Index before) {
  // Quantiles are looked for within 40 standard deviations of every component.
  Eigen::ArrayXXd reach = p.mean.array().abs() + p.sd.array() + p.epistemic_sd.array();
  for (const PredictionComponent& c : p.components)
    reach += c.mean.array().abs() + 100 * (c.epistemic_sd.array() + c.noise_sd.array());
  for (Eigen::Index j = 0; j < reach.cols(); ++j)
    for (Eigen::Index i = 0; i < reach.rows(); ++i)
      if (!std::isfinite(reach(i, j)) || !(p.sd(i, j) > 0))
        fail(
            "the prediction of '{}' in row {} overflows: its inputs are too far from the training data; use other "
            "units, or leave the row out",
            targets[static_cast<std::size_t>(j)], before + i + 1);
}

TableModel TableModel::network(BnnOptions options, Names features, Names targets, ColumnCoding coding) {
  if (!coding.empty()) options.levels = coding.levels(features);
  return {Bnn(std::move(options)), std::move(features), std::move(targets), std::move(coding)};
}
TableModel TableModel::classifier(ClassifierOptions options, Names features, std::string target, Names classes,
                                  ColumnCoding coding) {
  const std::size_t inputs = features.size();
  if (!coding.empty()) options.levels = coding.levels(features);
  return {Classifier(std::move(options), inputs, std::move(classes)), std::move(features), Names{std::move(target)},
          std::move(coding)};
}
TableModel TableModel::graph_of(GraphModel graph) {
  Names features = graph.inputs(), targets = graph.targets();
  return {std::move(graph), std::move(features), std::move(targets), {}};
}

const TableMethod& TableModel::method() const {
  return std::visit([](const auto& model) -> const TableMethod& { return model.method(); }, model_);
}
TableMethod& TableModel::method() {
  return std::visit([](auto& model) -> TableMethod& { return model.method(); }, model_);
}

const TableModel::Names& TableModel::classes() const {
  static const Names none;
  if (const Classifier* net = classifier()) return net->classes();
  const GraphModel* graph = own_graph();
  return graph != nullptr && graph->has_classes() ? graph->classes() : none;
}

std::uint64_t TableModel::seed() const {
  if (const Bnn* net = network()) return net->options().seed;
  if (const Classifier* net = classifier()) return net->options().seed;
  return own_graph()->options().learn.seed;
}

bool TableModel::standardises() const {
  if (const Bnn* net = network()) return net->options().standardise;
  if (const Classifier* net = classifier()) return net->options().standardise;
  return own_graph()->options().as_table;
}

const TableLearner* TableModel::jointly() const { return dynamic_cast<const TableLearner*>(&method()); }
const MessageNetwork* TableModel::by_messages() const { return dynamic_cast<const MessageNetwork*>(&method()); }
const Standardiser& TableModel::input_units() const {
  return jointly() != nullptr ? jointly()->input_units() : by_messages()->input_units();
}

TableReport TableModel::fit(const TableRows& rows, const TableFit& fit) {
  TrainingRecord record;
  record.options = fit.options;
  record.rows = static_cast<std::size_t>(rows.inputs.rows()) + fit.rows_elsewhere;
  training_ = record;  // checkpoints have it
  if (Bnn* net = network())
    record.report = net->fit(rows, fit);
  else if (GraphModel* graph = std::get_if<GraphModel>(&model_))
    record.report = graph->fit(rows, fit), record.line = graph->line();
  else
    record.report = method().fit(rows, fit);
  if (const std::string effects = text_of(record.report.effects, features_); !effects.empty())
    record.report.form += (record.report.form.empty() ? "" : "; ") + effects;
  record.rows -= record.report.far.size();
  record.weight = rows.weights.sum();
  if (has_classes()) {
    record.counts.resize(classes().size());
    for (const Eigen::Index c : classes_of(rows.targets)) ++record.counts[static_cast<std::size_t>(c)];
  }
  training_ = std::move(record);
  return training_.report;
}

void TableModel::judge(const TableRows& held_out) {
  training_.held_out_rows = static_cast<std::size_t>(held_out.inputs.rows());
  if (has_classes())
    training_.held_out_classes =
        class_scores_of(probabilities(held_out.inputs), classes_of(held_out.targets), held_out.weights);
  else
    training_.held_out =
        scores_of([&](Eigen::Index begin,
                      Eigen::Index rows) { return method().predict(held_out.inputs.middleRows(begin, rows)); },
                  held_out.targets, held_out.weights);
}

bool TableModel::update(const TableRows& more) {
  if (is_checkpoint()) fail("this is a checkpoint of a fit that has not ended; go on with --resume");
  if (by_messages() != nullptr)
    fail(
        "this model was learned by sweeps of messages, and rows are added to a joint fit alone; fit all rows together");
  if (has_classes()) fail("no rows can be added to a model of classes; fit old and new rows together");
  if (!(training_.weight > 0) && more.weights.size() > 0) training_.weight = static_cast<double>(training_.rows);
  const double known = training_.weight > 0 ? training_.weight : static_cast<double>(training_.rows);
  const auto count = more.inputs.rows() > 0 ? more.inputs.rows() : more.targets.rows();
  const bool settled = method().update(more, std::max(1.0, std::round(known)));
  if (more.inputs.cols() > 0) (void)predict(more.inputs);
  training_.line = fmt::format("the last {} on top of {} before{}", count, training_.rows,
                               settled ? "" : ", still changing at the limit of steps");
  training_.rows += static_cast<std::size_t>(count);
  if (training_.weight > 0) training_.weight += total_weight(count, more.weights);
  training_.report.left_out.clear();  // they hold for the old rows alone
  try {
    method().check();
  } catch (const Error& e) {
    fail("the update failed: {}; the new rows are too far from the training data", e.what());
  }
  return settled;
}

Prediction TableModel::predict(const Eigen::MatrixXd& inputs) const {
  if (has_classes()) fail("the target '{}' is a class, not a number: ask for probabilities", targets_[0]);
  Prediction prediction = own_graph() != nullptr ? own_graph()->predict(inputs) : method().predict(inputs);
  check_prediction(prediction, targets_);
  return prediction;
}

Eigen::MatrixXd TableModel::probabilities(const Eigen::MatrixXd& inputs) const {
  if (!has_classes()) fail("the target '{}' is a number, not a class: ask for predictions", targets_[0]);
  const Eigen::MatrixXd p = probabilities_of(method().predict(inputs).mean, classes().size());
  constexpr double kRounding = 1e-9;
  for (Eigen::Index n = 0; n < p.rows(); ++n)
    if (!(p.row(n).minCoeff() >= 0) || !(std::abs(p.row(n).sum() - 1) < kRounding))
      fail(
          "the probabilities of row {} overflow: its inputs are too far from the training data; use other units, or "
          "leave the row out",
          n + 1);
  return p;
}

std::string TableModel::check(const TableRows& rows) const {
  const std::string_view repair = repair_of_numbers(standardises());
  if (network() == nullptr) {
    try {
      method().check();
    } catch (const Error& e) {
      fail("the fit failed: {}; use other units, or other priors", e.what());
    }
  }
  if (has_classes()) return (void)probabilities(rows.inputs), "";
  if (rows.inputs.cols() == 0) return {};
  if (network() == nullptr) return (void)predict(rows.inputs), "";
  check_usable(*this);
  // Block by block: of a million rows a prediction is larger than the table.
  constexpr Eigen::Index kRows = 1 << 14;
  Eigen::MatrixXd means(rows.targets.rows(), rows.targets.cols()), sds = means;
  for (Eigen::Index begin = 0; begin < means.rows(); begin += kRows) {
    const Eigen::Index count = std::min(kRows, means.rows() - begin);
    const Prediction some = method().predict(rows.inputs.middleRows(begin, count));
    check_prediction(some, targets_, begin);
    means.middleRows(begin, count) = some.mean;
    sds.middleRows(begin, count) = some.sd;
  }
  for (Eigen::Index j = 0; j < means.cols(); ++j) {
    const Eigen::ArrayXd y = rows.targets.col(j).array(), mean = means.col(j).array();
    const double middle = (y / static_cast<double>(y.size())).sum();
    const double miss = root_mean_square(mean - y), spread = root_mean_square(y - middle);
    const double off = root_mean_square((y - mean) / sds.col(j).array());
    const std::string& name = targets_[static_cast<std::size_t>(j)];
    constexpr double kNonsense = 10, kPoor = 3;
    if (miss > kNonsense * y.abs().maxCoeff())
      fail(
          "the fit failed: predictions of '{}' miss the rows they were learned from by {:.3g}, which no value there "
          "comes near (largest: {:.3g}); {}",
          name, miss, y.abs().maxCoeff(), repair);
    if (miss > kPoor * spread)
      return fmt::format(
          "predictions of '{}' miss the rows they were learned from by {:.3g}, {:.3g} times the spread of the column: "
          "numbers are beyond what the priors can reach; {}",
          name, miss, miss / spread, repair);
    if (!(off <= kDoubtful))
      return fmt::format(
          "predictions of '{}' are off by {:.3g} standard deviations on the rows they were learned from: numbers are "
          "beyond what the priors can reach; {}",
          name, off, repair);
  }
  return {};
}

std::vector<std::vector<double>> TableModel::curves() const {
  std::vector<std::vector<double>> all;
  const auto add = [&](const std::vector<EpochRecord>& epochs, double shift) {
    all.emplace_back();
    for (const EpochRecord& e : epochs) all.back().push_back(e.log_likelihood - shift);
  };
  const auto log_scale = [](const Standardiser& targets) { return targets.scale.array().log().mean(); };
  if (const TableLearner* joint = jointly())
    for (const auto& epochs : joint->epochs()) add(epochs, log_scale(joint->target_units()));
  if (const MessageNetwork* messages = by_messages())
    for (std::size_t k = 0; k < messages->members(); ++k) add(messages->epochs(k), log_scale(messages->target_units()));
  return all;
}

}  // namespace dma
