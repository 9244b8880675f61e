// A model of a table: a network for numbers or classes, or a graph of one's own, with the names of its columns. What
// all of them can be asked, and their file.
//
//   TableModel model = TableModel::network(options, {"x"}, {"y"});
//   model.fit({inputs, targets}, {});
//   write_file("model.dma", model.text());
//   TableModel again = TableModel::from_text(text, "model.dma", standard_registry());
#pragma once

#include <Eigen/Core>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/learn/gaussian/learner.h"
#include "models/graphs/graph_file.h"
#include "models/learn/table_method.h"
#include "models/network/bnn.h"
#include "models/network/classifier.h"
#include "models/table/column_coding.h"

namespace dma {

class TableLearner;  // models/learn/table_learner.h
struct GraphFamily;
struct TableLearnOptions;

struct GraphModelOptions {
  GaussianLearnOptions learn = {};
  bool as_table = false;
};
void list_fields(Fields& f, GraphModelOptions& options);

// A graph of one's own learned from a table: columns are its observed variables, by name; its shared variables are
// learned as one Gaussian (models/learn/table_learner.h). A target drawn from a score for each class, as by `softmax`,
// is a class.
//
//   GraphModel model(parse_graph(text), standard_registry(), {"y"}, {.learn_noise = true});
//   model.fit(rows, targets);                    // columns in the order of model.inputs(), model.targets()
//   Prediction p = model.predict(new_rows);
//
// As it stands a graph is learned alone, of columns as they are. With `as_table` it is learned as the networks of
// `dma fit` are: of standardised columns, on logarithmic scales, judged by rows held out, beside a linear model and the
// nearest rows. A file may leave sizes and the smoothing open (GraphFile::choices): learning then chooses them.
class GraphModel {
 public:
  // An Error says what of the graph cannot be learned, and what to do. The registry is not kept.
  GraphModel(GraphFile file, const Registry& registry, std::vector<std::string> targets,
             GraphModelOptions options = {});
  GraphModel(GraphFile file, const Registry& registry, std::vector<std::string> targets, GaussianLearnOptions options)
      : GraphModel(std::move(file), registry, std::move(targets), GraphModelOptions{std::move(options)}) {}
  ~GraphModel();
  GraphModel(GraphModel&&) noexcept;
  GraphModel& operator=(GraphModel&&) noexcept;

  // Names of columns: "x", or "x[0]", "x[1]", ... of a variable with several elements. Variables that the file itself
  // has values for are no columns. A table that is data (given()) is a column with the name of its factor, whose values
  // choose elements, from 0 on.
  const std::vector<std::string>& inputs() const { return inputs_; }
  Eigen::Index choices() const { return choices_; }  // number of inputs, at the end, that choose elements
  const std::vector<std::string>& targets() const { return targets_; }            // columns to predict
  const std::vector<std::string>& target_names() const { return target_names_; }  // names of their variables
  const GraphFile& file() const { return file_; }                                 // graph with what it observes
  const GraphModelOptions& options() const { return options_; }                   // settings of learning
  const RowProgram& program() const { return *program_; }  // steps that a block of rows goes through

  // Classes of a target that is one: their names as the variable has them, or else as the labels of the fit.
  bool has_classes() const;
  const std::vector<std::string>& classes() const { return classes_; }        // names of the classes
  void set_classes(std::vector<std::string> names);                           // an Error unless they fit the graph
  Eigen::MatrixXd numbers_of(const ClassLabels& labels);                      // an Error where one is unknown
  TableReport fit(const Eigen::MatrixXd& inputs, const ClassLabels& labels);  // learns from labelled rows
  Eigen::MatrixXd probabilities(const Eigen::MatrixXd& inputs) const;         // rows x classes

  // Learns from rows; a row of weight w counts as w rows that are equal but independent.
  TableReport fit(const Eigen::MatrixXd& inputs, const Eigen::MatrixXd& targets, const Eigen::VectorXd& weights = {});
  TableReport fit(const TableRows& rows, const TableFit& fit);  // the same with limits
  // Rows on top of those that were learned, which are not needed again.
  bool update(const Eigen::MatrixXd& inputs, const Eigen::MatrixXd& targets, const Eigen::VectorXd& weights = {});
  Prediction predict(const Eigen::MatrixXd& inputs) const;  // distribution of each target in new rows

  struct Learned {
    std::string name;  // a shared scalar: "w", or "w[2]"
    Gaussian belief;
  };
  std::vector<Learned> beliefs() const;  // beliefs of all shared scalars
  // The likelihood of a target in words: "gaussian noise, sd 0.1 (learned)", "poisson".
  std::string likelihood(std::size_t target) const;
  const std::string& line() const { return line_; }  // end of the last fit
  LearnOptions fit_options() const;                  // limits of a fit

  const TableLearner& method() const { return *table_; }
  TableLearner& method() { return *table_; }

 private:
  void check_numbers() const;  // an Error where the target is a class
  void check_inputs(const Eigen::MatrixXd& inputs) const;
  TableLearnOptions table_options() const;
  GraphFamily family() const;

  GraphFile file_;
  std::shared_ptr<const RowProgram> program_;
  std::shared_ptr<const Registry> registry_;  // has the kinds of this graph
  std::vector<VariableId> target_variables_;
  GraphModelOptions options_;
  std::unique_ptr<TableLearner> table_;
  std::vector<std::string> inputs_, targets_, target_names_, classes_;
  Eigen::Index choices_ = 0;
  std::string line_;
  double known_ = 0;  // rows learned, by their weights
};

// The history of a model.
struct TrainingRecord {
  std::size_t rows = 0, held_out_rows = 0;
  double weight = 0;  // the sum over rows, if they have weights
  LearnOptions options = {};
  TableReport report = {};
  std::vector<std::size_t> counts = {};  // rows of each class
  std::vector<Scores> held_out = {};     // per output of numbers
  std::optional<ClassScores> held_out_classes = {};
  std::string line = {};  // end of the last fit of a graph, or of the last update
};

struct Standardiser;  // models/table/standardiser.h

class TableModel {
 public:
  using Names = std::vector<std::string>;
  static TableModel network(BnnOptions options, Names features, Names targets, ColumnCoding coding = {});  // numbers
  static TableModel classifier(ClassifierOptions options, Names features, std::string target, Names classes,
                               ColumnCoding coding = {});  // one class per row
  static TableModel graph_of(GraphModel graph);            // a graph of one's own

  // Learns; the record is that of these rows. Targets that are classes are given by number.
  TableReport fit(const TableRows& rows, const TableFit& fit);
  // Rows kept aside: their scores stay with the model.
  void judge(const TableRows& held_out);
  // More rows on top of those that are known. False: the update has not settled.
  bool update(const TableRows& more);
  // An Error if the model is not worth saving, because it cannot predict the rows it learned from; otherwise empty, or
  // a line of warning.
  std::string check(const TableRows& rows) const;

  // An Error names the first row whose prediction overflows.
  Prediction predict(const Eigen::MatrixXd& inputs) const;             // targets that are numbers
  Eigen::MatrixXd probabilities(const Eigen::MatrixXd& inputs) const;  // rows x classes
  Prediction predict_any(const Eigen::MatrixXd& inputs) const { return method().predict(inputs); }  // or classes

  const Names& features() const { return features_; }           // columns of inputs
  const Names& targets() const { return targets_; }             // columns to predict
  const Names& classes() const;                                 // none: the targets are numbers
  bool has_classes() const { return !classes().empty(); }       // true if the target is a class
  const ColumnCoding& coding() const { return coding_; }        // numbers from the cells of columns
  const TrainingRecord& training() const { return training_; }  // report of the fit
  TrainingRecord& training() { return training_; }              // the same, to be filled in
  std::uint64_t seed() const;                                   // seed of all random numbers
  bool standardises() const;                                    // learns columns in standardised units
  const Standardiser& input_units() const;                      // their means stand for missing cells

  const TableMethod& method() const;
  TableMethod& method();
  const TableLearner* jointly() const;                                               // null: by messages
  const MessageNetwork* by_messages() const;                                         // null: jointly
  const Bnn* network() const { return std::get_if<Bnn>(&model_); }                   // null: it is another model
  Bnn* network() { return std::get_if<Bnn>(&model_); }                               // to be changed
  const Classifier* classifier() const { return std::get_if<Classifier>(&model_); }  // null: another model
  const GraphModel* own_graph() const { return std::get_if<GraphModel>(&model_); }   // null: another model
  GraphModel* own_graph() { return std::get_if<GraphModel>(&model_); }               // to be changed
  // Log evidence or likelihood per row after every epoch of every member, in the units of the data.
  std::vector<std::vector<double>> curves() const;

  // The bytes of a model file (engine/support/model_file.h): every double keeps all its bits, and nothing depends on
  // the clock. Whole: a checkpoint of the data with this fingerprint, to go on fitting from.
  std::string text(const std::string& fingerprint = {}) const;
  // An Error of one line, beginning with `source`, for text that is damaged, cut short, or of another kind.
  static TableModel from_text(std::string_view text, std::string_view source, const Registry& registry);
  const std::string& fingerprint() const { return fingerprint_; }  // identifies a checkpoint's data
  bool is_checkpoint() const { return !fingerprint_.empty(); }     // true if fitting can go on

 private:
  using Model = std::variant<Bnn, Classifier, GraphModel>;
  TableModel(Model model, Names features, Names targets, ColumnCoding coding)
      : model_(std::move(model)),
        features_(std::move(features)),
        targets_(std::move(targets)),
        coding_(std::move(coding)) {}
  void check_names() const;
  void check_training() const;

  Model model_;
  Names features_, targets_;
  ColumnCoding coding_;
  TrainingRecord training_;
  std::string fingerprint_;
};

// An Error that names the first row and target whose prediction is not a finite number with a finite spread above 0;
// rows are counted behind those `before`.
void check_prediction(const Prediction& prediction, const std::vector<std::string>& targets, Eigen::Index before = 0);
// Advice if numbers are beyond the reach of the priors, as the end of a sentence.
std::string_view repair_of_numbers(bool standardised);
double root_mean_square(const Eigen::ArrayXd& values);  // holds if squares overflow, too

}  // namespace dma
