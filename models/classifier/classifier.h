// Classes from a table of numbers: a network whose outputs are the logits of the classes, with honest probabilities.
//
//   dma::Classifier net;
//   net.fit(X, labels);                         // labels: one text per row
//   Eigen::MatrixXd p = net.predict(X_new);     // rows x classes, named by net.classes()
//
// All weights are one Gaussian, learned jointly (engine/learn/joint/fit.h); the frequencies of the classes and
// the linear model are baselines, and who predicts left-out rows best is believed. So labels that have nothing to do
// with the inputs get the frequencies. The classes of the nearest rows (class_neighbours.h) are mixed in with the
// weight under which left-out rows are most probable.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/learn/joint/posterior.h"
#include "models/neighbours/class_neighbours.h"
#include "models/network/bnn_graph.h"
#include "models/table/class_labels.h"
#include "models/table/class_scores.h"
#include "models/table/principal_directions.h"
#include "models/table/standardiser.h"

namespace dma {

struct ClassifierOptions {
  // Widths of the hidden layers; empty: the linear model alone. Not given: one layer, as wide as is quick
  // (classifier_size.h).
  std::optional<std::vector<std::size_t>> hidden = {};
  double slope = 0.1;               // of the leaky ReLU, in (0, 1]
  double smoothing = 0.5;           // of the inputs of every layer: smooths the kinks
  double prior_variance_scale = 1;  // times 1 / fan-in, before the learned scale
  bool standardise = true;          // inputs
  bool neighbours = true;           // mixed in where they gain; the model then keeps all rows
  bool log_inputs = true;           // where that suits them (log_scale.h): with hidden layers, of standardised inputs
  std::size_t members = 0;          // networks from different draws, mixed; 0: as many as are quick, up to four
  int epochs = 40;                  // limit, for every part
  std::uint64_t seed = 1;
  std::size_t jobs = 1;  // threads; no result depends on them
};

struct ClassifierEpoch {
  std::size_t part = 0, parts = 1;  // counting from 0: the linear model, then the networks
  int epochs = 0;                   // their limit
  SharedEpoch epoch;
};
using ClassifierCallback = std::function<bool(const ClassifierEpoch&)>;  // false stops; what was learned so far stays

struct ClassifierReport {
  std::string reason;  // for the size of the network, one line
  double frequencies_fraction = 0, linear_fraction = 0, network_fraction = 0, neighbours_fraction = 0;
  std::vector<int> epochs;    // of every part
  std::vector<bool> settled;  // whether it stopped because nothing changed any more
  bool interrupted = false;
  ClassScores left_out;     // of the learned rows, each as if it had been left out
  ClassScores frequencies;  // had the classes' frequencies been predicted; its log-loss is of left-out rows too
};

class Classifier {
 public:
  explicit Classifier(ClassifierOptions options = {});

  // A row of weight w > 0 counts as w rows that are equal but independent; no weights: 1 each.
  ClassifierReport fit(const Eigen::MatrixXd& inputs, const ClassLabels& labels,
                       const ClassifierCallback& on_epoch = {}, const Eigen::VectorXd& weights = {});
  ClassifierReport fit(const Eigen::MatrixXd& inputs, const std::vector<std::string>& labels) {
    return fit(inputs, ClassLabels::of(labels));
  }

  Eigen::MatrixXd predict(const Eigen::MatrixXd& inputs) const;
  // The same of the learned rows, each as if it had been left out; after fit() only.
  const Eigen::MatrixXd& left_out() const { return left_out_; }
  const std::vector<std::string>& classes() const { return memory_.classes; }
  const ClassifierOptions& options() const { return options_; }

  // One of the models that are mixed.
  struct Part {
    std::vector<std::size_t> hidden;  // none: the linear model
    double fraction = 0;              // of the mixture
    SharedPosterior posterior = {};   // of the weights
    const Vector& mean() const { return posterior.state.mean; }
    double scale() const { return posterior.state.scale(0); }   // of the prior's precision
    double stretch() const { return posterior.stretch.at(0); }  // of the logits
  };
  // All that was learned, to be saved and given back (classifier_file.h).
  struct Memory {
    Standardiser inputs;
    PrincipalDirections directions = {};  // of the standardised inputs, where these are many
    std::vector<std::string> classes;
    Vector frequencies;
    double frequencies_fraction = 1;
    std::vector<Part> parts;
    std::shared_ptr<const ClassNeighbours> neighbours = {};  // or none
  };
  const Memory& memory() const { return memory_; }
  void restore(Memory memory);

  // Widths of its layers, inputs first, logits last; and its logits as joint learning computes them.
  std::vector<std::size_t> widths(const Part& part) const;
  RowProgram rows_of(const Part& part) const;
  // Mean, variance, and variance of the prior of the weights of a part, layer after layer; a layer's matrix row by row,
  // then its biases.
  struct Weights {
    Vector mean, variance, prior_variance;
    std::vector<Index> first;  // of every layer, and one past the last
  };
  Weights weights(const Part& part) const;

 private:
  Index width() const {
    return memory_.directions.used() ? memory_.directions.basis.cols() + 1 : memory_.inputs.shift.size();
  }
  Matrix prepared(const Eigen::MatrixXd& inputs) const;
  // `frequencies` without each row.
  void mix_with_neighbours(const Eigen::MatrixXd& inputs, const ClassLabels& labels, const Vector& weights,
                           const Matrix& frequencies, ClassifierReport& report);
  SharedPrior prior_of(const Part& part, const RowProgram& rows, Vector& start, std::uint64_t seed) const;
  // Rows x classes.
  Matrix probabilities(RowBeliefs logits, const SharedPosterior& posterior) const;

  ClassifierOptions options_;
  Memory memory_;
  Eigen::MatrixXd left_out_;
};

}  // namespace dma
