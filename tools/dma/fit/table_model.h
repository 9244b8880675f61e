// A model of a table, of whatever kind: networks for numbers, networks for classes, or a graph of one's own; how each
// is learned, and what all of them can be asked.
#pragma once

#include <Eigen/Dense>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/files/bnn_file.h"
#include "models/files/classifier_file.h"
#include "models/graphs/graph_model.h"
#include "models/predict/settings.h"
#include "tools/dma/fit/mixed_table.h"
#include "tools/dma/fit/summary.h"
#include "tools/dma/fit/training_data.h"

namespace dma {

class TableModel {
 public:
  virtual ~TableModel() = default;

  // Columns of the inputs, of the targets, and the classes of the target; none: it is a number.
  virtual const std::vector<std::string>& features() const = 0;
  virtual std::vector<std::string> targets() const = 0;
  virtual const std::vector<std::string>& classes() const;
  bool has_classes() const { return !classes().empty(); }
  virtual ModelColumns columns() const = 0;  // of a table, that become the features
  virtual std::size_t rows() const = 0;      // learned
  virtual std::size_t seed() const = 0;
  virtual bool standardises() const { return true; }

  // New rows, in any number of threads. An Error names the first row whose prediction overflows.
  Prediction predict(const Eigen::MatrixXd& inputs) const;             // of numbers
  Eigen::MatrixXd probabilities(const Eigen::MatrixXd& inputs) const;  // rows x classes

  // An Error if the model is not worth saving, because it cannot predict the rows it learned from; otherwise empty, or
  // a line of warning.
  virtual std::string check(const TrainingData& data) const;
  // Keeps scores of rows that were kept aside.
  virtual void judge(const TrainingData& data) = 0;

  // More rows on top of those that are known. False: the update has not settled.
  virtual bool update(const Eigen::MatrixXd& inputs, const Eigen::MatrixXd& outputs, const Eigen::VectorXd& weights);

  virtual std::string text() const = 0;  // of the model file
  virtual std::string summary() const = 0;
  virtual Json json() const = 0;
  virtual std::vector<std::string> sentences() const { return {}; }
  virtual std::vector<LayerOfWeights> layers() const { return {}; }
  virtual std::vector<std::vector<double>> curves() const { return {}; }  // kept of its training

  // Scores of targets of numbers, or of a class.
  virtual std::vector<LeftOut> left_out() const { return {}; }
  virtual std::vector<Scores> held_out() const { return {}; }
  virtual std::vector<ClassScores> left_out_classes() const { return {}; }
  virtual std::vector<ClassScores> held_out_classes() const { return {}; }

  virtual Graph graph() const;                              // of one row
  virtual std::vector<double> noise() const { return {}; }  // standard deviation of every target; NaN: not Gaussian
  virtual double products_per_row() const = 0;              // that a prediction takes, about

 protected:
  virtual Prediction predicted(const Eigen::MatrixXd& inputs) const;
  virtual Eigen::MatrixXd probable(const Eigen::MatrixXd& inputs) const;
};

class NetworkModel : public TableModel {
 public:
  explicit NetworkModel(SavedBnn saved) : saved_(std::move(saved)), net_(make_bnn(saved_)) {}

  const SavedBnn& saved() const { return saved_; }
  const Bnn& net() const { return net_; }
  const std::vector<std::string>& features() const override { return saved_.features; }
  std::vector<std::string> targets() const override { return saved_.targets; }
  ModelColumns columns() const override {
    return {saved_.features, saved_.coding, saved_.memory.inputs, saved_.options.standardise};
  }
  std::size_t rows() const override { return saved_.training.rows; }
  std::size_t seed() const override { return saved_.options.seed; }
  bool standardises() const override { return saved_.options.standardise; }
  std::string check(const TrainingData& data) const override;
  void judge(const TrainingData& data) override;
  bool update(const Eigen::MatrixXd& inputs, const Eigen::MatrixXd& outputs, const Eigen::VectorXd& weights) override;
  std::string text() const override { return bnn_to_text(saved_); }
  std::string summary() const override { return summary_text(saved_); }
  Json json() const override { return summary_json(saved_); }
  std::vector<std::string> sentences() const override { return honest_sentences(saved_); }
  std::vector<LayerOfWeights> layers() const override { return layers_of(net_); }
  std::vector<std::vector<double>> curves() const override { return training_curves(saved_); }
  std::vector<LeftOut> left_out() const override { return saved_.training.left_out; }
  std::vector<Scores> held_out() const override { return saved_.training.held_out; }
  Graph graph() const override { return net_.graph(); }
  std::vector<double> noise() const override { return net_.noise(); }
  double products_per_row() const override;

 private:
  Prediction predicted(const Eigen::MatrixXd& inputs) const override { return net_.predict(inputs); }

  SavedBnn saved_;
  Bnn net_;
};

class ClassModel : public TableModel {
 public:
  explicit ClassModel(SavedClassifier saved) : saved_(std::move(saved)), net_(make_classifier(saved_)) {}

  const SavedClassifier& saved() const { return saved_; }
  const Classifier& net() const { return net_; }
  const std::vector<std::string>& features() const override { return saved_.features; }
  std::vector<std::string> targets() const override { return {saved_.target}; }
  const std::vector<std::string>& classes() const override { return saved_.memory.classes; }
  ModelColumns columns() const override {
    return {saved_.features, saved_.coding, saved_.memory.inputs, saved_.options.standardise};
  }
  std::size_t rows() const override { return saved_.training.rows; }
  std::size_t seed() const override { return saved_.options.seed; }
  bool standardises() const override { return saved_.options.standardise; }
  void judge(const TrainingData& data) override;
  std::string text() const override { return classifier_to_text(saved_); }
  std::string summary() const override { return summary_text(saved_); }
  Json json() const override { return summary_json(saved_); }
  std::vector<std::string> sentences() const override { return honest_sentences(saved_); }
  std::vector<LayerOfWeights> layers() const override { return layers_of(saved_); }
  std::vector<ClassScores> left_out_classes() const override { return {saved_.training.report.left_out}; }
  std::vector<ClassScores> held_out_classes() const override {
    return saved_.training.held_out ? std::vector{*saved_.training.held_out} : std::vector<ClassScores>{};
  }
  double products_per_row() const override;

 private:
  Eigen::MatrixXd probable(const Eigen::MatrixXd& inputs) const override { return net_.predict(inputs); }

  SavedClassifier saved_;
  Classifier net_;
};

// A graph of one's own; its inputs are columns of plain numbers by their names.
class OwnGraph : public TableModel {
 public:
  explicit OwnGraph(GraphModel model) : model_(std::move(model)) {}

  const GraphModel& model() const { return model_; }
  const std::vector<std::string>& features() const override { return model_.inputs(); }
  std::vector<std::string> targets() const override { return model_.targets(); }
  const std::vector<std::string>& classes() const override { return model_.classes(); }
  ModelColumns columns() const override;
  std::size_t rows() const override { return model_.training.rows; }
  std::size_t seed() const override { return model_.options().seed; }
  void judge(const TrainingData& data) override;
  bool update(const Eigen::MatrixXd& inputs, const Eigen::MatrixXd& outputs, const Eigen::VectorXd& weights) override;
  std::string text() const override { return graph_model_text(model_); }
  std::string summary() const override { return summary_text(model_); }
  Json json() const override { return summary_json(model_); }
  std::vector<LeftOut> left_out() const override;
  std::vector<Scores> held_out() const override { return model_.training.held_out; }
  std::vector<ClassScores> left_out_classes() const override { return model_.training.left_out_classes; }
  std::vector<ClassScores> held_out_classes() const override { return model_.training.held_out_classes; }
  Graph graph() const override { return model_.file().graph; }
  std::vector<double> noise() const override;
  double products_per_row() const override;

 private:
  Prediction predicted(const Eigen::MatrixXd& inputs) const override;
  Eigen::MatrixXd probable(const Eigen::MatrixXd& inputs) const override { return model_.probabilities(inputs); }

  GraphModel model_;
};

// A model, and what only the fit that made it knows.
struct Learned {
  std::shared_ptr<TableModel> model;
  bool interrupted = false;
  std::string reason = {}, line = {};  // for the form of the model; how it ended
  std::size_t copies = 0;              // rows that repeat others
  std::vector<std::vector<double>> curves =
      {};  // log evidence or likelihood per row, after every epoch of every member
  // The learned rows, each as if it had been left out, where the method knows.
  std::optional<Prediction> left_out = {};
  Eigen::MatrixXd left_out_probabilities = {};
};

struct FitEpoch {
  std::size_t member;
  int epoch;
  double value, seconds;  // log evidence or likelihood per row; since the fit began
  std::string line;       // for people
};
struct FitWatch {
  std::function<bool(const FitEpoch&)> on_epoch = {};  // false stops; what was learned so far stays
  std::function<bool()> goes_on = {};                  // asked between epochs too
  std::function<double()> seconds_left = {};           // where the time is limited
};

// What the command line adds to the fit of networks: processes that share it, checkpoints, stages of an epoch.
struct NetworkFit {
  NetworkSettings settings;
  // The network, where it begins; it may add to what is told of learning.
  std::function<Bnn(const BnnOptions&, LearnOptions& watched)> begin = [](const BnnOptions& options, LearnOptions&) {
    return Bnn(options);
  };
  std::function<bool(const BnnEpoch&, const Bnn&)> on_epoch = {};
  std::function<void(const Bnn&)> on_interruption = {};
};

// Rows that lie too far are dropped from the data.
Learned learn_network(TrainingData& data, const NetworkFit& fit, const FitWatch& watch);
Learned learn_classes(const TrainingData& data, const ClassifierOptions& options, const FitWatch& watch);

// Made before the data are read: it knows the columns.
class GraphFit {
 public:
  GraphFit(GraphFile file, const Registry& registry, std::vector<std::string> targets, JointLearnOptions options,
           FitWatch watch);
  const GraphModel& model() const { return model_; }
  Learned learn(const TrainingData& data) &&;  // whose columns are those of the graph

 private:
  struct Told {
    FitWatch watch;
    double values = 1;  // of the targets
    std::vector<std::vector<double>> curves = {};
  };
  std::shared_ptr<Told> told_;
  GraphModel model_;
};

// An Error of one line, beginning with `source`, for text that is damaged, cut short, or of another kind.
std::unique_ptr<TableModel> table_model_from(std::string_view text, std::string_view source, const Registry& registry);
std::unique_ptr<TableModel> load_model(const std::filesystem::path& path);

}  // namespace dma
