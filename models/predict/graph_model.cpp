#include "models/predict/table_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/learn/gaussian/learner_data.h"
#include "engine/learn/gaussian/program/output_likelihood.h"
#include "engine/support/fields.h"
#include "engine/support/text.h"
#include "models/learn/mixing.h"
#include "models/learn/table_learner.h"
#include "models/network/network_graph.h"
#include "models/table/relevance.h"

namespace dma {

namespace {

// "x", or "x[0]", "x[1]", ...
void add_columns(const std::string& name, std::size_t size, std::vector<std::string>& columns) {
  for (std::size_t i = 0; i < size; ++i) columns.push_back(size == 1 ? name : fmt::format("{}[{}]", name, i));
}

// The name of a table's column: that of its factor, with the port where the factor has several tables.
std::string column_of(const Graph& graph, const std::vector<RowProgram::Table>& tables,
                      const RowProgram::Table& table) {
  const auto own = std::ranges::count(tables, table.factor, &RowProgram::Table::factor);
  return own == 1 ? graph[table.factor].name() : fmt::format("{}.{}", graph[table.factor].name(), table.port);
}

}  // namespace

void list_fields(Fields& f, GraphModelOptions& o) {
  f("as_table", o.as_table);
  f("learn_noise", o.learn.learn_noise);
  f("noise_by_inputs", o.learn.noise_by_inputs);
  f("tails", o.learn.tails);
  f("learn_scale", o.learn.learn_scale);
  f("starts", o.learn.starts);
  f("hold_out", o.learn.hold_out);
  f("epochs", o.learn.epochs);
  f("seed", o.learn.seed);
}

GraphModel::~GraphModel() = default;
GraphModel::GraphModel(GraphModel&&) noexcept = default;
GraphModel& GraphModel::operator=(GraphModel&&) noexcept = default;

GraphModel::GraphModel(GraphFile file, const Registry& registry, std::vector<std::string> targets,
                       GraphModelOptions options)
    : file_(std::move(file)),
      registry_(std::make_shared<const Registry>(registry)),
      options_(std::move(options)),
      target_names_(std::move(targets)) {
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
  // The learner refuses a graph that cannot be learned.
  GaussianLearnOptions learn = options_.learn;
  if (options_.as_table) learn.starts = std::max<std::size_t>(1, learn.starts);  // 0: chosen
  (void)GaussianLearner(file_.graph, registry, target_variables_, learn);
  program_ = std::make_shared<const RowProgram>(file_.graph, registry, target_variables_);
  if (std::ranges::any_of(program_->likelihoods(), [](const auto& own) { return own && own->is_class(); })) {
    if (target_variables_.size() > 1) fail("target '{}' is a class; it must be the only target", targets_[0]);
    const auto names = file_.graph.categories(target_variables_[0]);
    classes_ = {names.begin(), names.end()};
  }
  for (const VariableId input : program_->inputs())
    if (std::ranges::find(file_.observations, input, &GraphFile::Observation::variable) == file_.observations.end())
      add_columns(file_.graph[input].name, file_.graph[input].size, inputs_);
  for (const RowProgram::Table& table : program_->tables()) {
    add_columns(column_of(file_.graph, program_->tables(), table), table.entries, inputs_);
    choices_ += table.entries;
  }
  table_ = std::make_unique<TableLearner>(table_options());
  table_->describe_by([graph = file_.graph](const TableLearner&, std::size_t) { return graph; });
}

GraphFamily GraphModel::family() const {
  GraphFamily family;
  // Columns of a program's rows from those of the table: the constants of the file, and 0 for inputs that do not
  // matter.
  family.model = [registry = registry_, file = file_, targets = target_names_, learn = options_.learn,
                  count = std::ssize(inputs_)](const GraphChoice& choice) {
    const GraphFile chosen = file.choices.empty() ? file : file.chosen(choice.sizes, choice.smoothing);
    std::vector<VariableId> variables;
    for (const std::string& name : targets) variables.push_back(chosen.graph.find_variable(name));
    auto program = std::make_shared<const RowProgram>(chosen.graph, *registry, variables);
    GaussianLearnOptions own = learn;  // variables of another graph
    for (std::vector<VariableId>* some : {&own.unscaled, &own.anchored})
      for (VariableId& v : *some) v = chosen.graph.find_variable(file.graph[v].name.text());
    SharedModel model = shared_model(program, own, chosen.graph);
    std::vector<Index> columns;
    std::vector<double> constants;
    Index next = 0;
    const auto add_column = [&] {
      const bool is_seen = choice.relevance.size() == 0 || is_relevant(choice.relevance(next));
      columns.push_back(is_seen ? next : -1);
      if (is_seen)
        model.columns.push_back(next);
      else
        constants.push_back(0);
      ++next;
    };
    for (const VariableId input : program->inputs()) {
      const auto given = std::ranges::find(file.observations, file.graph.find_variable(chosen.graph[input].name.text()),
                                           &GraphFile::Observation::variable);
      for (std::uint32_t e = 0; e < chosen.graph[input].size; ++e) {
        if (given == file.observations.end()) {
          add_column();
        } else {
          columns.push_back(-1);
          constants.push_back(given->values[e].value());
        }
      }
    }
    while (next < count) add_column();
    if (!constants.empty())
      model.rows = std::make_shared<RowsOfColumns>(std::move(program), std::move(columns), std::move(constants));
    if (std::ssize(model.columns) == count) model.columns.clear();
    return model;
  };
  family.text = [names = file_.choices.size_names](const std::vector<std::size_t>& sizes) {
    std::string text;
    for (std::size_t i = 0; i < sizes.size() && i < names.size(); ++i)
      text += fmt::format("{}{} = {}", i > 0 ? ", " : "", names[i], sizes[i]);
    return text.empty() ? std::string("the graph") : text;
  };
  const GraphFile::Choices& open = file_.choices;
  if (!open.sizes.empty()) family.first.sizes = open.sizes[0];
  if (!open.smoothings.empty()) family.first.smoothing = open.smoothings[0];
  if (!options_.as_table) return family;
  family.sizes = open.sizes;
  if (!open.smoothings.empty()) family.smoothings = [all = open.smoothings](const GraphChoice&) { return all; };
  if (program_->likelihoods().empty() || !program_->likelihoods()[0]) {
    family.simple = [inputs = inputs_.size(), outputs = targets_.size()](const Vector& relevance) {
      return linear_model(inputs, outputs, relevance);
    };
    if (choices_ == 0)
      family.relevance = [seed = options_.learn.seed](const RowData& data) {
        return relevance_of(data.rows, data.targets, seed, data.weights);
      };
  }
  return family;
}

TableLearnOptions GraphModel::table_options() const {
  const GaussianLearnOptions& learn = options_.learn;
  const std::size_t classes = has_classes() ? static_cast<std::size_t>(program_->outputs()) : 0;
  const bool as_table = options_.as_table;
  TableLearnOptions table{.family = [family = family()](const PreparedColumns&) { return family; },
                          .inputs = inputs_.size(),
                          .outputs = classes > 0 ? 1 : targets_.size(),
                          .classes = classes,
                          .standardise = as_table && !inputs_.empty(),
                          .log_inputs = as_table && choices_ == 0,
                          .neighbours = as_table && choices_ == 0,
                          .far_rows = as_table,
                          .copies = as_table,
                          .frequencies = as_table,
                          .ensemble = ensemble_options(learn, *program_),
                          .seed = learn.seed};
  if (choices_ > 0) table.levels.assign(inputs_.size() - static_cast<std::size_t>(choices_), 0);
  for (const RowProgram::Table& own : program_->tables())
    table.levels.insert(table.levels.end(), own.entries, own.choices);
  EnsembleOptions& ensemble = table.ensemble;
  if (!as_table) return table;
  ensemble.choose_relevance = ensemble.choose_smoothing = ensemble.choose_sizes = ensemble.hold_out = true;
  ensemble.mixture = {.learn_noise = learn.learn_noise,
                      .noise_model = learn.noise_by_inputs ? NoiseModel::inputs : NoiseModel::choose,
                      .members = learn.starts,
                      .seed = learn.seed};
  if (!learn.learn_noise) ensemble.mixture.noise = program_->noise();
  return table;
}

void GraphModel::check_inputs(const Eigen::MatrixXd& inputs) const {
  if (static_cast<std::size_t>(inputs.cols()) != inputs_.size())
    fail("the graph has {} inputs, but {} columns are given", inputs_.size(), inputs.cols());
  Index column = inputs.cols() - choices_;
  for (const RowProgram::Table& table : program_->tables())
    for (std::uint32_t e = 0; e < table.entries; ++e, ++column)
      for (Index i = 0; i < inputs.rows(); ++i)
        if (const double value = inputs(i, column);
            !(value >= 0 && value < table.choices && value == std::floor(value)))
          fail("column '{}' is {} in row {}; it chooses an element: a whole number from 0 to {} is expected",
               column_of(file_.graph, program_->tables(), table), value, i + 1, table.choices - 1);
}

void GraphModel::set_classes(std::vector<std::string> names) {
  const auto count = static_cast<std::size_t>(program_->outputs());
  if (names.size() != count)
    fail("target '{}' has {} classes ({}), but the graph scores for {}; as many are expected", target_names_[0],
         names.size(), joined(names), count);
  classes_ = std::move(names);
}

Eigen::MatrixXd GraphModel::numbers_of(const ClassLabels& labels) {
  if (!has_classes()) fail("target '{}' is a number; for a class draw it by softmax from its scores", target_names_[0]);
  if (file_.graph.categories(target_variables_[0]).empty() && !table_->is_fitted()) set_classes(labels.names);
  std::vector<Index> places;
  for (const std::string& name : labels.names) {
    const auto found = std::ranges::find(classes_, name);
    if (found == classes_.end())
      fail("target '{}' has no class '{}'{}", target_names_[0], name, suggestion(name, classes_));
    places.push_back(found - classes_.begin());
  }
  Eigen::MatrixXd numbers(std::ssize(labels.of_rows), 1);
  for (Index n = 0; n < numbers.rows(); ++n)
    numbers(n, 0) = static_cast<double>(places[static_cast<std::size_t>(labels.of_rows[static_cast<std::size_t>(n)])]);
  return numbers;
}

TableReport GraphModel::fit(const TableRows& rows, const TableFit& fit) {
  if (rows.inputs.rows() != rows.targets.rows())
    fail("{} rows of inputs, but {} of targets", rows.inputs.rows(), rows.targets.rows());
  check_inputs(rows.inputs);
  if (!has_classes() && static_cast<std::size_t>(rows.targets.cols()) != targets_.size())
    fail("the graph has {} targets, but {} columns are given", targets_.size(), rows.targets.cols());
  if (!options_.as_table)
    if (const std::string fault = table_->first_fault(rows.inputs); !fault.empty())
      fail(
          "Gaussian learning: at the prior's mean {}; choose another prior, a function with finite derivatives there, "
          "or leave such examples out",
          fault);
  TableReport report = table_->fit(rows, fit);
  const GraphMixtureReport fitted = table_->mixture_report();
  line_ = report_of(table_->graphs().mixture(), fitted).line();
  known_ = total_weight(rows.targets.rows(), rows.weights);
  return report;
}

TableReport GraphModel::fit(const Eigen::MatrixXd& inputs, const ClassLabels& labels) {
  return fit({inputs, numbers_of(labels)}, {.options = fit_options()});
}

TableReport GraphModel::fit(const Eigen::MatrixXd& inputs, const Eigen::MatrixXd& targets,
                            const Eigen::VectorXd& weights) {
  check_numbers();
  return fit({inputs, targets, weights}, {.options = fit_options()});
}

LearnOptions GraphModel::fit_options() const {
  LearnOptions fit;
  fit.epochs = options_.learn.epochs;
  fit.least_gain = options_.learn.least_gain;
  fit.jobs = options_.learn.jobs;
  return fit;
}

Eigen::MatrixXd GraphModel::probabilities(const Eigen::MatrixXd& inputs) const {
  if (!has_classes()) fail("probabilities: target '{}' is a number; call predict", target_names_[0]);
  check_inputs(inputs);
  return table_->predict(inputs).mean;
}

bool GraphModel::has_classes() const {
  const OutputLikelihoods& likelihoods = program_->likelihoods();
  return !likelihoods.empty() && likelihoods[0] && likelihoods[0]->is_class();
}

void GraphModel::check_numbers() const {
  if (has_classes())
    fail("target '{}' is a class, not a number: fit its labels, ask for probabilities", target_names_[0]);
}

bool GraphModel::update(const Eigen::MatrixXd& inputs, const Eigen::MatrixXd& targets, const Eigen::VectorXd& weights) {
  check_numbers();
  check_inputs(inputs);
  const bool settled = table_->update({inputs, targets, weights}, known_);
  line_ = fmt::format("the last {} on top of {} before{}", targets.rows(), known_,
                      settled ? "" : ", still changing at the limit of steps");
  known_ += total_weight(targets.rows(), weights);
  return settled;
}

Prediction GraphModel::predict(const Eigen::MatrixXd& inputs) const {
  check_numbers();
  if (inputs_.empty()) fail("predict: the graph has no inputs, and all rows are alike; ask for its beliefs");
  check_inputs(inputs);
  return table_->predict(inputs);
}

std::vector<GraphModel::Learned> GraphModel::beliefs() const {
  std::vector<Learned> all;
  const GraphMixture& mixture = table_->graphs().mixture();
  Index first = 0;
  for (const SharedModel::Variable& variable : mixture.model().variables) {
    const std::size_t size = variable.rows * variable.columns;
    std::vector<std::string> names;
    add_columns(variable.name, size, names);
    const std::vector<Gaussian> beliefs = beliefs_of(mixture, first, static_cast<Index>(size));
    for (std::size_t i = 0; i < size; ++i) all.push_back({names[i], beliefs[i]});
    first += static_cast<Index>(size);
  }
  return all;
}

std::string GraphModel::likelihood(std::size_t target) const {
  if (const auto& other = program_->likelihoods()[target])
    return has_classes() ? fmt::format("{}: {}", other->kind(), joined(classes_)) : other->kind();
  const double sd = table_->is_fitted() ? table_->noise()[target] : std::sqrt(program_->noise()[target]);
  return fmt::format("gaussian noise, sd {:.4g} ({})", sd,
                     !options_.learn.learn_noise      ? "given"
                     : options_.learn.noise_by_inputs ? "learned, by inputs"
                                                      : "learned");
}

}  // namespace dma
