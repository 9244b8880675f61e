// Classes from a table of numbers: a network whose outputs are the scores of the classes, with honest probabilities.
//
//   dma::Classifier net;
//   net.fit(X, labels);                         // labels: one text per row
//   Eigen::MatrixXd p = net.predict(X_new);     // rows x classes, named by net.classes()
//
// All weights are one Gaussian, learned jointly (models/learn/table_learner.h); the frequencies of the classes and the
// linear model are simpler ones, and who predicts left-out rows best is believed. So labels that have nothing to do
// with the inputs get the frequencies. The classes of the nearest rows (class_neighbours.h) are mixed in with the
// weight under which left-out rows are most probable.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/learn/table_method.h"
#include "models/table/column_coding.h"

namespace dma {

class TableLearner;  // models/learn/table_learner.h
struct TableLearnOptions;

struct ClassifierOptions {
  // Widths of the hidden layers; empty: the linear model alone. Not given: one layer, as wide as is quick
  // (classifier_size.h).
  std::optional<std::vector<std::size_t>> hidden = {};
  double slope = 0.1;                    // slope of the leaky ReLU, in (0, 1]
  double smoothing = 0.5;                // sd of noise on the inputs of hidden layers: smooths the kinks
  double prior_variance_scale = 1;       // times 1 / fan-in, before the learned scale
  bool standardise = true;               // inputs
  std::vector<std::size_t> levels = {};  // as BnnOptions::levels
  bool neighbours = true;                // mixed in where they gain; the model then keeps all rows
  bool log_inputs = true;   // log scale for inputs that it suits (log_scale.h), if standardised, with hidden layers
  std::size_t members = 0;  // networks from different draws, mixed; 0: as many as are quick, up to four
  int epochs = 40;          // limit, for every part
  std::uint64_t seed = 1;
  std::size_t jobs = 1;  // threads; no result depends on them
};
void list_fields(Fields& f, ClassifierOptions& options);
void check(const ClassifierOptions& options);  // an Error for what no classifier can have
// Options to learn a table with so many inputs and classes.
TableLearnOptions class_table(const ClassifierOptions& options, std::size_t inputs, std::size_t classes);
TableFit class_fit(const ClassifierOptions& options);  // limits of learning

class Classifier {
 public:
  explicit Classifier(ClassifierOptions options = {});
  // To be fitted to, or read for, rows of so many columns with these classes.
  Classifier(ClassifierOptions options, std::size_t inputs, std::vector<std::string> classes);
  ~Classifier();
  Classifier(Classifier&&) noexcept;
  Classifier& operator=(Classifier&&) noexcept;

  // A row of weight w > 0 counts as w rows that are equal but independent; no weights: 1 each.
  TableReport fit(const Eigen::MatrixXd& inputs, const ClassLabels& labels, const TableFit& fit,
                  const Eigen::VectorXd& weights = {});
  TableReport fit(const Eigen::MatrixXd& inputs, const ClassLabels& labels, const Eigen::VectorXd& weights = {}) {
    return fit(inputs, labels, class_fit(options_), weights);
  }
  TableReport fit(const Eigen::MatrixXd& inputs, const std::vector<std::string>& labels) {  // one text per row
    return fit(inputs, ClassLabels::of(labels));
  }

  Eigen::MatrixXd predict(const Eigen::MatrixXd& inputs) const;  // probabilities: rows x classes
  // The same of the learned rows, each as if it had been left out; after fit() only.
  Eigen::MatrixXd left_out() const;
  const std::vector<std::string>& classes() const { return classes_; }  // names in the order of predict()
  const ClassifierOptions& options() const { return options_; }         // as they were given, and chosen
  std::size_t weights() const;                                          // number in each member of a fitted network
  const TableLearner& method() const { return *table_; }
  TableLearner& method() { return *table_; }

 private:
  ClassifierOptions options_;
  std::vector<std::string> classes_;
  std::unique_ptr<TableLearner> table_;
};

}  // namespace dma
