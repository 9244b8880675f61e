// A model of a table: a network for numbers or classes, or a graph of one's own, with the names of its columns. What
// all of them can be asked, and their file.
//
//   TableModel model = TableModel::network(options, {"x"}, {"y"});
//   model.fit({inputs, targets}, {});
//   write_file("model.dma", model.text());
//   TableModel again = TableModel::from_text(text, "model.dma", standard_registry());
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "models/network/bnn.h"
#include "models/network/classifier.h"
#include "models/predict/graph_model.h"
#include "models/table/column_coding.h"

namespace dma {

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

  // Learns; the record is that of these rows. Of a classifier and of a graph, targets are numbers of classes.
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
