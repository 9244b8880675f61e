// A graph of one's own learned from a table: columns are its observed variables, by name; its shared variables are
// learned jointly (engine/learn/joint/joint_learner.h). A target drawn from a score for each class, as by `softmax`, is
// a class.
//
//   GraphModel model(parse_graph(text), standard_registry(), {"y"}, {.learn_noise = true});
//   model.fit(rows, targets);                    // columns in the order of model.inputs(), model.targets()
//   Prediction p = model.predict(new_rows);
//   write_file("model.json", graph_model_text(model));
#pragma once

#include <Eigen/Dense>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/learn/joint/joint_learner.h"
#include "models/files/readable_json.h"
#include "models/graphs/graph_file.h"
#include "models/table/class_labels.h"
#include "models/table/class_scores.h"
#include "models/table/scores.h"

namespace dma {

class GraphModel {
 public:
  // An Error says what of the graph cannot be learned, and what to do. The registry is not kept.
  GraphModel(GraphFile file, const Registry& registry, std::vector<std::string> targets,
             JointLearnOptions options = {});

  // Names of columns: "x", or "x[0]", "x[1]", ... of a variable with several elements. Variables that the file itself
  // has values for are no columns. A table that is data (given()) is a column with the name of its factor, whose values
  // choose elements, from 0 on.
  const std::vector<std::string>& inputs() const { return inputs_; }
  Eigen::Index choices() const { return choices_; }  // how many of them, the last ones, choose elements
  const std::vector<std::string>& targets() const { return targets_; }
  const std::vector<std::string>& target_names() const { return target_names_; }  // of variables
  const GraphFile& file() const { return file_; }
  const JointLearnOptions& options() const { return options_; }
  const JointLearner& learner() const { return *learner_; }
  const RowProgram& program() const { return learner_->program(); }

  // Of a target that is a class: its names as the variable has them, or else as the labels of the fit.
  bool has_classes() const;
  const std::vector<std::string>& classes() const { return classes_; }
  JointLearnReport fit(const Eigen::MatrixXd& inputs, const ClassLabels& labels);
  Eigen::MatrixXd probabilities(const Eigen::MatrixXd& inputs) const;     // rows x classes
  std::vector<Eigen::Index> classes_of(const ClassLabels& labels) const;  // an Error where one is unknown

  JointLearnReport fit(const Eigen::MatrixXd& inputs, const Eigen::MatrixXd& targets,
                       std::span<const double> weights = {});
  // Rows on top of those that were learned, which are not needed again (JointLearner::update).
  bool update(const Eigen::MatrixXd& inputs, const Eigen::MatrixXd& targets);
  Prediction predict(const Eigen::MatrixXd& inputs) const;

  struct Learned {
    std::string name;  // of a shared scalar: "w", or "w[2]"
    Gaussian belief;
  };
  std::vector<Learned> beliefs() const;
  // Of targets, in words: "gaussian noise, sd 0.1 (learned)", "poisson".
  std::string likelihood(std::size_t target) const;

  // Kept with the model.
  struct Training {
    std::size_t rows = 0, held_out_rows = 0;
    std::string line;                                                       // of the report
    std::vector<Scores> left_out, held_out = {};                            // per target of numbers
    std::vector<ClassScores> left_out_classes = {}, held_out_classes = {};  // of a class
  };
  Training training = {};

 private:
  friend std::string graph_model_text(const GraphModel& model);
  friend GraphModel graph_model_from(std::string_view text, std::string_view source, const Registry& registry);
  class Examples;
  void check_numbers() const;  // an Error where the target is a class

  GraphFile file_;
  std::vector<VariableId> target_variables_;
  JointLearnOptions options_;
  std::unique_ptr<JointLearner> learner_;
  std::vector<std::string> inputs_, targets_, target_names_, classes_;
  Eigen::Index choices_ = 0;
};

// As they stand in a model file.
Json to_json(const JointLearnOptions& options);
// A model file, as `dma predict` reads it. Kinds must be those of the registry it is read with.
std::string graph_model_text(const GraphModel& model);
// An Error of one line, beginning with `source`, for text that is damaged, cut short, or of another kind.
GraphModel graph_model_from(std::string_view text, std::string_view source, const Registry& registry);

}  // namespace dma
