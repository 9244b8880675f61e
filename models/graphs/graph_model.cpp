#include "models/graphs/graph_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>

#include "engine/learn/rows/output_likelihood.h"
#include "engine/support/error.h"
#include "engine/support/text.h"

namespace dma {

namespace {

// "x", or "x[0]", "x[1]", ...
void add_columns(const std::string& name, std::size_t size, std::vector<std::string>& columns) {
  for (std::size_t i = 0; i < size; ++i) columns.push_back(size == 1 ? name : fmt::format("{}[{}]", name, i));
}

// Of a table: that of its factor, with the port where the factor has several tables.
std::string column_of(const Graph& graph, const std::vector<RowProgram::Table>& tables,
                      const RowProgram::Table& table) {
  const auto own = std::ranges::count(tables, table.factor, &RowProgram::Table::factor);
  return own == 1 ? graph[table.factor].name() : fmt::format("{}.{}", graph[table.factor].name(), table.port);
}

}  // namespace

// Rows of a matrix as a learner takes them: one variable after the other, its numbers row by row.
class GraphModel::Examples {
 public:
  Examples(const GraphModel& model, const Eigen::MatrixXd& inputs, Eigen::Index rows) : model_(model), rows_(rows) {
    if (!model.inputs_.empty()) check(inputs, model.inputs_.size(), "inputs");
    const RowProgram& program = model.program();
    Eigen::Index at = 0;
    for (const VariableId input : program.inputs()) add(input, inputs, at);
    for (const RowProgram::Table& table : program.tables()) {
      std::vector<std::uint32_t>& entries = entries_.emplace_back();
      for (Eigen::Index i = 0; i < rows; ++i)
        for (std::uint32_t e = 0; e < table.entries; ++e) {
          const double value = inputs(i, at + e);
          if (!(value >= 0 && value < table.choices && value == std::floor(value)))
            fail("column '{}' is {} in row {}; it chooses an element: a whole number from 0 to {} is expected",
                 column_of(model.file_.graph, program.tables(), table), value, i + 1, table.choices - 1);
          entries.push_back(static_cast<std::uint32_t>(value));
        }
      at += table.entries;
      data_.tables.push_back({table.factor, table.port, entries});
    }
  }
  Examples(const GraphModel& model, const Eigen::MatrixXd& inputs, const Eigen::MatrixXd& targets)
      : Examples(model, inputs, targets.rows()) {
    check(targets, model.targets_.size(), "targets");
    Eigen::Index at = 0;
    for (const VariableId target : model.target_variables_) add(target, targets, at);
  }
  const Data& data() const { return data_; }

 private:
  void check(const Eigen::MatrixXd& columns, std::size_t expected, std::string_view what) const {
    if (columns.rows() != rows_) fail("{} rows of inputs, but {} of targets", columns.rows(), rows_);
    if (static_cast<std::size_t>(columns.cols()) != expected)
      fail("the graph has {} {}, but {} columns are given", expected, what, columns.cols());
  }
  void add(VariableId variable, const Eigen::MatrixXd& columns, Eigen::Index& at) {
    std::vector<double>& values = values_.emplace_back();
    const GraphFile& file = model_.file_;
    const auto given = std::ranges::find(file.observations, variable, &GraphFile::Observation::variable);
    const bool is_column = given == file.observations.end();
    const std::uint32_t size = file.graph[variable].size;
    for (Eigen::Index i = 0; i < rows_; ++i)
      for (std::uint32_t e = 0; e < size; ++e)
        values.push_back(is_column ? columns(i, at + e) : given->values[e].value());
    if (is_column) at += size;
    data_.push_back({variable, values});
  }

  const GraphModel& model_;
  Eigen::Index rows_;
  std::deque<std::vector<double>> values_;  // that the data point to
  std::deque<std::vector<std::uint32_t>> entries_;
  Data data_;
};

GraphModel::GraphModel(GraphFile file, const Registry& registry, std::vector<std::string> targets,
                       JointLearnOptions options)
    : file_(std::move(file)), options_(std::move(options)), target_names_(std::move(targets)) {
  if (target_names_.empty()) fail("no target is given; name the observed variable to predict");
  for (const std::string& name : target_names_) {
    const VariableId target = file_.graph.find_variable(name);
    if (!file_.graph[target].observed)
      fail("target '{}' is not an observed variable of the graph; mark it observed, and put a likelihood on it", name);
    if (std::ranges::find(target_variables_, target) != target_variables_.end())
      fail("target '{}' is given twice", name);
    target_variables_.push_back(target);
    std::erase_if(file_.observations, [&](const auto& given) { return given.variable == target; });
    add_columns(name, file_.graph[target].size, targets_);
  }
  // A variable whose values the file leaves open is a column; one that has some is a constant.
  std::erase_if(file_.observations, [](const GraphFile::Observation& given) {
    return std::ranges::none_of(given.values, [](const auto& value) { return value.has_value(); });
  });
  for (const GraphFile::Observation& given : file_.observations)
    if (given.values.size() != file_.graph[given.variable].size ||
        !std::ranges::all_of(given.values, [](const auto& value) { return value.has_value(); }))
      fail("variable '{}' has values for some of its elements; give all of them, or none and a column for each",
           file_.graph[given.variable].name);
  learner_ = std::make_unique<JointLearner>(file_.graph, registry, target_variables_, options_);
  const OutputLikelihoods& likelihoods = this->program().likelihoods();
  if (std::ranges::any_of(likelihoods, [](const auto& own) { return own && own->is_class(); })) {
    if (target_variables_.size() > 1) fail("target '{}' is a class; it must be the only target", targets_[0]);
    const auto names = file_.graph.categories(target_variables_[0]);
    classes_ = {names.begin(), names.end()};
  }
  options_.on_epoch = {};  // the learner's: whoever listens need not outlive the model
  const RowProgram& program = this->program();
  for (const VariableId input : program.inputs())
    if (std::ranges::find(file_.observations, input, &GraphFile::Observation::variable) == file_.observations.end())
      add_columns(file_.graph[input].name, file_.graph[input].size, inputs_);
  for (const RowProgram::Table& table : program.tables()) {
    add_columns(column_of(file_.graph, program.tables(), table), table.entries, inputs_);
    choices_ += table.entries;
  }
}

std::vector<Eigen::Index> GraphModel::classes_of(const ClassLabels& labels) const {
  std::vector<Eigen::Index> places, all;
  for (const std::string& name : labels.names) {
    const auto found = std::ranges::find(classes_, name);
    if (found == classes_.end())
      fail("target '{}' has no class '{}'{}", target_names_[0], name, suggestion(name, classes_));
    places.push_back(found - classes_.begin());
  }
  for (const Eigen::Index own : labels.of_rows) all.push_back(places[static_cast<std::size_t>(own)]);
  return all;
}

JointLearnReport GraphModel::fit(const Eigen::MatrixXd& inputs, const ClassLabels& labels) {
  if (!has_classes()) fail("target '{}' is a number; for a class draw it by softmax from its scores", target_names_[0]);
  const auto count = static_cast<std::size_t>(program().outputs());
  if (file_.graph.categories(target_variables_[0]).empty()) classes_ = labels.names;
  if (classes_.size() != count)
    fail("target '{}' has {} classes ({}), but the graph scores for {}; as many are expected", target_names_[0],
         classes_.size(), joined(classes_), count);
  const std::vector<Eigen::Index> classes = classes_of(labels);
  Eigen::MatrixXd targets(classes.size(), 1);
  for (std::size_t n = 0; n < classes.size(); ++n)
    targets(static_cast<Eigen::Index>(n), 0) = static_cast<double>(classes[n]);
  JointLearnReport report = learner_->fit(Examples(*this, inputs, targets).data());
  training = {.rows = classes.size(), .line = report.line(), .left_out = {}};
  training.left_out_classes = {class_scores_of(learner_->left_out().mean, classes)};
  return report;
}

Eigen::MatrixXd GraphModel::probabilities(const Eigen::MatrixXd& inputs) const {
  if (!has_classes()) fail("probabilities: target '{}' is a number; call predict", target_names_[0]);
  return learner_->predict(Examples(*this, inputs, inputs.rows()).data()).mean;
}

bool GraphModel::has_classes() const {
  const OutputLikelihoods& likelihoods = program().likelihoods();
  return likelihoods[0] && likelihoods[0]->is_class();
}

void GraphModel::check_numbers() const {
  if (has_classes())
    fail("target '{}' is a class, not a number: fit its labels, ask for probabilities", target_names_[0]);
}

JointLearnReport GraphModel::fit(const Eigen::MatrixXd& inputs, const Eigen::MatrixXd& targets,
                                 std::span<const double> weights) {
  check_numbers();
  JointLearnReport report = learner_->fit(Examples(*this, inputs, targets).data(), weights);
  training = {.rows = learner_->rows(), .held_out_rows = 0, .line = report.line(), .left_out = {}};
  training.left_out = scores_of(learner_->left_out(), targets);
  return report;
}

bool GraphModel::update(const Eigen::MatrixXd& inputs, const Eigen::MatrixXd& targets) {
  check_numbers();
  const std::size_t known = learner_->rows();
  const bool settled = learner_->update(Examples(*this, inputs, targets).data());
  training = {.rows = learner_->rows(),
              .held_out_rows = 0,
              .line = fmt::format("the last {} on top of {} before{}", targets.rows(), known,
                                  settled ? "" : ", still changing at the limit of steps"),
              .left_out = {}};
  return settled;
}

Prediction GraphModel::predict(const Eigen::MatrixXd& inputs) const {
  check_numbers();
  if (inputs_.empty()) fail("predict: the graph has no inputs, and all rows are alike; ask for its beliefs");
  return learner_->predict(Examples(*this, inputs, inputs.rows()).data());
}

std::vector<GraphModel::Learned> GraphModel::beliefs() const {
  std::vector<Learned> all;
  for (const VariableId shared : program().shared()) {
    std::vector<std::string> names;
    add_columns(file_.graph[shared].name, file_.graph[shared].size, names);
    const std::vector<Gaussian> beliefs = learner_->belief(shared);
    for (std::size_t i = 0; i < names.size(); ++i) all.push_back({names[i], beliefs[i]});
  }
  return all;
}

std::string GraphModel::likelihood(std::size_t target) const {
  if (const auto& other = program().likelihoods()[target])
    return has_classes() ? fmt::format("{}: {}", other->kind(), joined(classes_)) : other->kind();
  return fmt::format("gaussian noise, sd {:.4g} ({})", std::sqrt(learner_->noise_variance(target)),
                     !options_.learn_noise      ? "given"
                     : options_.noise_by_inputs ? "learned, by inputs"
                                                : "learned");
}

}  // namespace dma
