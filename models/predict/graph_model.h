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
#pragma once

#include <Eigen/Core>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/learn/gaussian/learner.h"
#include "models/graphs/graph_file.h"
#include "models/learn/table_method.h"
#include "models/table/class_labels.h"

namespace dma {

class TableLearner;  // models/learn/table_learner.h
struct GraphFamily;
struct TableLearnOptions;

struct GraphModelOptions {
  GaussianLearnOptions learn = {};
  bool as_table = false;
};
void list_fields(Fields& f, GraphModelOptions& options);

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

}  // namespace dma
