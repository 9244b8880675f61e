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
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/learn/gaussian/prediction.h"
#include "engine/support/text.h"
#include "models/learn/table_method.h"

namespace dma {

class Fields;

struct BnnShape;  // network_graph.h

// One number for everything, or one for each: the form of options that may differ per layer or per output.
struct Numbers {
  Numbers() = default;
  Numbers(double one) : values{one} {}                            // NOLINT: .noise = 0.2
  Numbers(std::initializer_list<double> each) : values(each) {}   // NOLINT: .slopes = {0.4, 0.8}
  Numbers(std::vector<double> each) : values(std::move(each)) {}  // NOLINT

  bool empty() const { return values.empty(); }
  // As many as wanted, a single one repeated.
  std::vector<double> expanded(std::size_t count, std::string_view what) const {
    if (values.size() == 1) return std::vector<double>(count, values[0]);
    if (values.size() != count) fail("{}: {} numbers are given, but 1 or {} expected", what, values.size(), count);
    return values;
  }
  std::vector<double> values;
};

// Prior mean and variance of every weight of a layer, row by row, biases last.
struct LayerPrior {
  std::vector<double> mean, variance;
};

// Options of a network for a table, and of the way it is learned.
struct BnnOptions {
  std::vector<std::size_t> layers;  // widths: features, hidden layers, outputs
  Numbers slopes = 0.1;             // in (0, 1], one per hidden layer or one for all
  Numbers noise = {};               // standard deviation per output or one for all; none: learned from the data
  bool learn_noise = false;         // start from `noise` and learn it (always so when `noise` is not given)
  NoiseModel noise_model = NoiseModel::choose;  // form of learned noise; messages know constant noise only
  bool bias = true;                             // a bias in every layer
  bool standardise = true;                      // inputs and targets, undone in predictions
  double prior_mean_scale = 1;                  // prior means are drawn from N(0, scale^2 / fan_in)
  double prior_variance_scale = 1;              // prior variances are scale / (layers * fan_in)
  std::vector<LayerPrior> priors = {};          // given explicitly instead, for a single member
  // Number of values of every input, numbered from 0, and 0 for an input of numbers; empty: all are numbers. One more
  // number stands for a value that was not learned. The values have effects of their own where these gain (joint, of
  // standardised columns with learned noise).
  std::vector<std::size_t> levels = {};
  std::string features = "none";                         // fixed feature map in front, by name (feature_map.h)
  std::string method = "joint";                          // "joint", or how messages are computed: "dma", "hybrid", ...
  std::map<std::string, std::string> kind_methods = {};  // ... for single kinds of factors
  // A linear model learned beside the network and mixed with it by how well each predicts left-out rows. Joint learning
  // has one in any case.
  bool linear_baseline = false;
  // A Gaussian process on the nearest rows (neighbours.h) beside the network, with the weight under which left-out rows
  // are most probable; and inputs and targets on a logarithmic scale where that suits them (log_scale.h). Both only
  // where hidden layers and noise are learned jointly of standardised columns, by one worker.
  bool neighbours = true, log_inputs = true, log_target = true;
  // Targets that are whole numbers of 0 or more are tried as Poisson and negative binomial counts
  // (models/learn/counts.h), under the same conditions.
  bool count_target = true;
  std::size_t members =
      0;  // networks with their own prior draws, predictions mixed; 0: as many as are quick (joint), or 1
  // Hidden layers are chosen by rows held out (joint): one of 10, 20, 50, ... units while they gain, then two. `layers`
  // has the chosen ones after the fit.
  bool choose_width = false;
  std::uint64_t seed = 1;
  bool shuffle = true;  // rows into mini-batches at random, by the seed; otherwise in their order
  bool fuse = true;     // see CompileOptions
  std::optional<double> smoothing =
      {};  // sd of noise on standardised inputs of hidden layers: smooths the kinks (joint); none: chosen by evidence

  bool is_joint() const { return method == "joint"; }  // true if all weights are one Gaussian
};

// The paper's: no biases, columns as they are, messages by its own rules, one network.
BnnOptions paper_options(std::vector<std::size_t> layers);
void list_fields(Fields& f, BnnOptions& options);
void check(const BnnOptions& options);         // an Error for what no network can have
BnnShape shape_of(const BnnOptions& options);  // sizes of all layers

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

// A network for a table of numbers, with settings that need no tuning: one set of constants for every data set.
struct RegressionSettings {
  BnnOptions network;
  LearnOptions fit;
  std::string reason;  // for the method, one line
};

// Biases, standardisation and learned noise. All weights are learned jointly wherever that fits into memory and time
// (solver_form.h); beyond, or where a method is given, by messages: small mini-batches, since each must be divided out
// as a whole, by default with the `hybrid` method (leaky ReLU by expectation propagation with the linearised message
// where that is refused, product linearised).
RegressionSettings regression_settings(std::size_t inputs, std::vector<std::size_t> hidden, std::size_t outputs,
                                       std::size_t rows, const std::string& method = {});
// The same with hidden layers that joint learning chooses (BnnOptions::choose_width); messages have one of 50 units.
RegressionSettings regression_settings(std::size_t inputs, std::size_t outputs, std::size_t rows,
                                       const std::string& method = {});

// Mini-batches store a message for every weight, 16 bytes, in each member. Where all of them would take more than this
// they become larger, by as little as keeps to it; says so, or nothing. For options with a batch_size.
inline constexpr double kMostStoredBytes = 5e8;
std::string bound_stored_messages(const BnnOptions& network, std::size_t rows, LearnOptions& fit);  // changes `fit`

// Estimated time of a fit to so many rows, in seconds of one core. By a matrix over rows its products are those of the
// units of each layer with both sides, never of weights; see regression.cpp for what was measured.
double seconds_of_fit(const BnnOptions& network, const LearnOptions& fit, std::size_t rows);

}  // namespace dma
