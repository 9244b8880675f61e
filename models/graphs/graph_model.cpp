#include "models/graphs/graph_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/learn/rows/output_likelihood.h"
#include "engine/support/error.h"

namespace dma {

namespace {

// "x", or "x[0]", "x[1]", ...
void add_columns(const std::string& name, std::size_t size, std::vector<std::string>& columns) {
  for (std::size_t i = 0; i < size; ++i) columns.push_back(size == 1 ? name : fmt::format("{}[{}]", name, i));
}

// Columns of a matrix as a learner takes them: one variable after the other, its numbers row by row.
class ColumnData {
 public:
  // `what` is said of the wrong number of columns.
  ColumnData(const GraphFile& file, const Eigen::MatrixXd& columns, std::size_t expected, std::string_view what)
      : file_(file), columns_(columns) {
    if (static_cast<std::size_t>(columns.cols()) != expected)
      fail("the graph has {} {}, but {} columns are given", expected, what, columns.cols());
  }

  void add(VariableId variable) {
    std::vector<double>& values = values_.emplace_back();
    const auto given = std::ranges::find(file_.observations, variable, &GraphFile::Observation::variable);
    const std::uint32_t size = file_.graph[variable].size;
    const Eigen::Index first = at_;
    if (given == file_.observations.end()) at_ += size;
    for (Eigen::Index i = 0; i < columns_.rows(); ++i)
      for (std::uint32_t e = 0; e < size; ++e)
        values.push_back(given == file_.observations.end() ? columns_(i, first + e) : given->values[e].value());
    observed_.push_back({variable, values_.size() - 1});
  }
  void add(const RowProgram::Table& table, const std::string& column) {
    std::vector<std::uint32_t>& entries = entries_.emplace_back();
    for (Eigen::Index i = 0; i < columns_.rows(); ++i)
      for (std::uint32_t e = 0; e < table.entries; ++e) {
        const double value = columns_(i, at_ + e);
        if (!(value >= 0 && value < table.choices && value == std::floor(value)))
          fail("column '{}' is {} in row {}; it chooses an element: a whole number from 0 to {} is expected", column,
               value, i + 1, table.choices - 1);
        entries.push_back(static_cast<std::uint32_t>(value));
      }
    at_ += table.entries;
    tables_.push_back(&table);
  }
  Data data() const {
    Data all;
    for (const auto& [variable, at] : observed_) all.push_back({variable, values_[at]});
    for (std::size_t i = 0; i < tables_.size(); ++i)
      all.tables.push_back({tables_[i]->factor, tables_[i]->port, entries_[i]});
    return all;
  }

 private:
  const GraphFile& file_;
  const Eigen::MatrixXd& columns_;
  Eigen::Index at_ = 0;
  std::vector<std::vector<double>> values_;
  std::vector<std::vector<std::uint32_t>> entries_;
  std::vector<std::pair<VariableId, std::size_t>> observed_;
  std::vector<const RowProgram::Table*> tables_;
};

// Of a table: that of its factor, with the port where the factor has several tables.
std::string column_of(const Graph& graph, const std::vector<RowProgram::Table>& tables,
                      const RowProgram::Table& table) {
  const auto own = std::ranges::count(tables, table.factor, &RowProgram::Table::factor);
  return own == 1 ? graph[table.factor].name() : fmt::format("{}.{}", graph[table.factor].name(), table.port);
}

}  // namespace

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
  options_.on_epoch = {};  // the learner's: whoever listens need not outlive the model
  const RowProgram& program = learner_->program();
  for (const VariableId input : program.inputs())
    if (std::ranges::find(file_.observations, input, &GraphFile::Observation::variable) == file_.observations.end())
      add_columns(file_.graph[input].name, file_.graph[input].size, inputs_);
  for (const RowProgram::Table& table : program.tables())
    add_columns(column_of(file_.graph, program.tables(), table), table.entries, inputs_);
}

JointLearnReport GraphModel::fit(const Eigen::MatrixXd& inputs, const Eigen::MatrixXd& targets,
                                 std::span<const double> weights) {
  const RowProgram& program = learner_->program();
  if (!inputs_.empty() && inputs.rows() != targets.rows())
    fail("{} rows of inputs, but {} of targets", inputs.rows(), targets.rows());
  const Eigen::MatrixXd none(targets.rows(), 0);
  ColumnData observed(file_, inputs_.empty() ? none : inputs, inputs_.size(), "inputs"),
      aims(file_, targets, targets_.size(), "targets");
  for (const VariableId input : program.inputs()) observed.add(input);
  for (const RowProgram::Table& table : program.tables())
    observed.add(table, column_of(file_.graph, program.tables(), table));
  for (const VariableId target : target_variables_) aims.add(target);
  Data data = observed.data();
  for (const Observations& target : aims.data()) data.push_back(target);
  JointLearnReport report = learner_->fit(data, weights);
  training = {.rows = learner_->rows(), .held_out_rows = 0, .line = report.line(), .left_out = {}};
  training.left_out = scores_of(learner_->left_out(), targets);
  return report;
}

Prediction GraphModel::predict(const Eigen::MatrixXd& inputs) const {
  const RowProgram& program = learner_->program();
  if (inputs_.empty()) fail("predict: the graph has no inputs, and all rows are alike; ask for its beliefs");
  ColumnData observed(file_, inputs, inputs_.size(), "inputs");
  for (const VariableId input : program.inputs()) observed.add(input);
  for (const RowProgram::Table& table : program.tables())
    observed.add(table, column_of(file_.graph, program.tables(), table));
  return learner_->predict(observed.data());
}

std::vector<GraphModel::Learned> GraphModel::beliefs() const {
  std::vector<Learned> all;
  for (const VariableId shared : learner_->program().shared()) {
    std::vector<std::string> names;
    add_columns(file_.graph[shared].name, file_.graph[shared].size, names);
    const std::vector<Gaussian> beliefs = learner_->belief(shared);
    for (std::size_t i = 0; i < names.size(); ++i) all.push_back({names[i], beliefs[i]});
  }
  return all;
}

std::string GraphModel::likelihood(std::size_t target) const {
  if (const auto& other = learner_->program().likelihoods()[target]) return other->kind();
  return fmt::format("gaussian noise, sd {:.4g} ({})", std::sqrt(learner_->noise_variance(target)),
                     !options_.learn_noise      ? "given"
                     : options_.noise_by_inputs ? "learned, by inputs"
                                                : "learned");
}

}  // namespace dma
