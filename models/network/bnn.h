// A Bayesian neural network for regression: layers of weights with Gaussian beliefs, leaky-ReLU activations, Gaussian
// noise.
//
//   auto net = dma::Bnn({.layers = {13, 50, 1}});
//   auto fit = net.fit(X, y);
//   auto [mean, sd] = net.predict(X_new);
//
// The default learns all weights as one Gaussian (method "joint": models/learn/table_learner.h); other methods sweep
// messages (message_network.h). The published settings of the paper are paper_options().
//
// Matrices have one row per example. All numbers are in the units of the data; standardisation happens inside.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "models/learn/table_method.h"
#include "models/network/options.h"

namespace dma {

class MessageNetwork;  // message_network.h
class TableLearner;    // models/learn/table_learner.h

using FitReport = TableReport;
using BnnEpoch = TableEpoch;
using BnnCallback = std::function<bool(const BnnEpoch&)>;

class Bnn {
 public:
  explicit Bnn(BnnOptions options);

  // Learns from rows of inputs and targets. Called again with the same rows it goes on, after an interruption or with
  // more epochs; an Error for other rows than those it has learned. The options' targets are the network's outputs,
  // whatever they name; the limits hold for every member. A row of weight w, if weights are given, counts as w rows
  // that are equal but independent: its likelihood to the power w, everywhere. One of weight 0 is left out. Joint
  // learning only.
  FitReport fit(const Eigen::MatrixXd& inputs, const Eigen::MatrixXd& targets, const LearnOptions& options = {},
                const BnnCallback& on_epoch = {}, const Eigen::VectorXd& weights = {});
  FitReport fit(const TableRows& rows, const TableFit& fit);  // the same, of rows with weights
  // Learns more rows on top of a finished fit to `known` rows (or weights of rows, added up), which need not be of this
  // process: what is known of the network's weights is the prior, and the old rows are not needed. Units stay those of
  // the fit. Weights of the new rows as in fit(). Joint learning only. False: something was still changing at the limit
  // of steps.
  bool update(const Eigen::MatrixXd& inputs, const Eigen::MatrixXd& targets, std::size_t known,
              const Eigen::VectorXd& weights = {}) {
    return method_->update({inputs, targets, weights}, static_cast<double>(known));
  }

  // Const members may be called by several threads at once.
  Prediction predict(const Eigen::MatrixXd& inputs) const;  // distribution of each target in new rows
  // The learned rows (without far ones), each as if it had not been learned, where the method knows; after fit() only.
  std::optional<Prediction> left_out() const { return method_->left_out(); }

  // The network of a member for one example, in standardised units: the graph that was learned, with the priors and the
  // noise that learning has found. Its layers read the inputs that matter.
  Graph graph(std::size_t member = 0) const { return method_->graph(member); }
  // Beliefs of the weights of a layer: its matrix row by row, then its biases.
  std::vector<Gaussian> weights(std::size_t layer, std::size_t member = 0) const;
  LayerPrior prior(std::size_t layer, std::size_t member = 0) const;  // prior of the weights of a layer
  // Standard deviation per output, in the units of the targets.
  std::vector<double> noise() const { return method_->noise(); }

  const BnnOptions& options() const { return options_; }  // with the hidden layers and members that learning has chosen
  const TableMethod& method() const { return *method_; }
  // For files: what is read with these options. Afterwards take_choices() has the layers and members that were chosen.
  TableMethod& method() { return *method_; }
  void take_choices();                                             // takes over what method() has read
  const TableLearner* jointly() const { return joint_; }           // null: by messages
  const MessageNetwork* by_messages() const { return messages_; }  // null: jointly
  MessageNetwork* by_messages() { return messages_; }              // to be changed

 private:
  BnnOptions options_;
  std::unique_ptr<TableMethod> method_;
  TableLearner* joint_ = nullptr;
  MessageNetwork* messages_ = nullptr;
};

}  // namespace dma
