// A Bayesian neural network for regression: layers of weights with Gaussian beliefs, leaky-ReLU activations, Gaussian
// noise.
//
//   auto net = dma::Bnn({.layers = {13, 50, 1}});
//   auto fit = net.fit(X, y);
//   auto [mean, sd] = net.predict(X_new);
//
// The default learns all weights as one Gaussian (method "joint", joint_regression.h); other methods sweep messages.
// The published settings of the paper are paper_options().
//
// Matrices have one row per example. All numbers are in the units of the data; standardisation happens inside.
#pragma once

#include <Eigen/Dense>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/learn/learn.h"
#include "engine/support/error.h"
#include "models/neighbours/neighbours.h"
#include "models/network/bnn_graph.h"
#include "models/network/joint_regression.h"
#include "models/table/feature_map.h"
#include "engine/learn/joint/prediction.h"
#include "models/table/scores.h"
#include "models/table/standardiser.h"

namespace dma {

// One number for everything, or one for each: how options that may differ per layer or per output are written.
struct Numbers {
  Numbers() = default;
  Numbers(double one) : values{one} {}                                        // NOLINT: .noise = 0.2
  Numbers(std::initializer_list<double> each) : values(each) {}               // NOLINT: .slopes = {0.4, 0.8}
  Numbers(std::vector<double> each) : values(std::move(each)) {}              // NOLINT

  bool empty() const { return values.empty(); }
  // As many as wanted, a single one repeated.
  std::vector<double> expanded(std::size_t count, std::string_view what) const {
    if (values.size() == 1) return std::vector<double>(count, values[0]);
    if (values.size() != count) fail("{}: {} numbers are given, but 1 or {} expected", what, values.size(), count);
    return values;
  }
  std::vector<double> values;
};

struct BnnOptions {
  std::vector<std::size_t> layers;  // widths: features, hidden layers, outputs
  Numbers slopes = 0.1;             // in (0, 1], one per hidden layer or one for all
  Numbers noise = {};               // standard deviation per output or one for all; none: learned from the data
  bool learn_noise = false;         // start from `noise` and learn it (always so when `noise` is not given)
  NoiseModel noise_model =
      NoiseModel::choose;           // of learned noise (joint_regression.h); messages know constant noise only
  bool bias = true;                 // a bias in every layer
  bool standardise = true;          // inputs and targets, undone in predictions
  Numbers activation_prior = {};    // variance of N(0, .) on pre-activations, per layer; none: no such prior
  double prior_mean_scale = 1;      // prior means are drawn from N(0, scale^2 / fan_in)
  double prior_variance_scale = 1;  // prior variances are scale / (layers * fan_in)
  bool learn_prior = false;         // start from these and learn one factor on the variances of every layer
  std::vector<LayerPrior> priors = {};  // given explicitly instead, for a single member
  std::string features = "none";    // fixed feature map in front, by name (feature_map.h)
  std::string method = "joint";     // "joint", or how messages are computed: "dma", "hybrid", ...
  std::map<std::string, std::string> kind_methods = {};  // ... for single kinds of factors
  // A linear model learned beside the network and mixed with it by how well each predicts left-out rows. Joint learning
  // has one in any case.
  bool linear_baseline = false;
  // Where hidden layers and noise are learned jointly of standardised columns, by one worker: a Gaussian process on the
  // nearest rows (neighbours.h) beside the network, with the weight under which left-out rows are most probable; and
  // inputs on a logarithmic scale where that suits them (log_scale.h).
  bool neighbours = true, log_inputs = true;
  std::size_t members =
      0;  // networks with their own prior draws, predictions mixed; 0: as many as are quick (joint), or 1
  // Hidden layers are chosen by rows held out (joint): one of 10, 20, 50, ... units while they gain, then two. `layers`
  // has the chosen ones after the fit.
  bool choose_width = false;
  std::uint64_t seed = 1;
  bool shuffle = true;              // rows into mini-batches at random, by the seed; otherwise in their order
  bool fuse = true;                 // see CompileOptions
  std::optional<double> smoothing =
      {};  // of the inputs of every layer, standardised: smooths the kinks (joint); none: chosen by evidence

  bool is_joint() const { return method == "joint"; }
};

// The paper's: no biases, columns as they are, messages by its own rules, one network.
BnnOptions paper_options(std::vector<std::size_t> layers);

struct BnnEpoch {
  std::size_t member = 0;  // counting from 0
  EpochRecord record;
  std::vector<double> noise;  // standard deviations after the epoch
};

// Called after every epoch of every member; false stops (what was learned so far stays).
using BnnCallback = std::function<bool(const BnnEpoch&)>;

// How well the learned rows were predicted, each as if it had been left out; of one output.
struct LeftOut {
  Scores scores;
  double explained = 0;  // fraction of the target's variance
};

// Joint learning with learned noise sets rows aside that lie further than this many robust standard deviations from
// what the others predict: at most a tenth of all, and only where that makes the log density of all rows better.
inline constexpr double kFarDeviations = 10;

struct FitReport {
  std::vector<LearnReport> members;
  std::vector<double> noise;  // standard deviation per output (mean over members)
  bool interrupted = false;
  std::string form = {};             // of joint learning, and why
  double network_fraction = 1;            // of the mixture of networks and linear model
  std::vector<double> neighbours = {};  // of every output, their fraction of the mixture with these; empty: none
  std::vector<LeftOut> left_out = {};  // joint, or with a linear baseline
  std::size_t copies = 0;              // rows left aside because they repeat others (joint, distinct_rows.h)
  std::vector<Index> far = {};         // rows that were not learned, see kFarDeviations
  std::string line() const;
};

class Bnn {
 public:
  explicit Bnn(BnnOptions options);
  Bnn(Bnn&&) noexcept;
  Bnn& operator=(Bnn&&) noexcept;
  ~Bnn();

  // Learns from rows of inputs and targets. Called again with the same rows it goes on, after an interruption or with
  // more epochs; an Error for other rows than those it has learned (after restore() the caller knows that they are the
  // same). The options' targets are the network's outputs, whatever they name; the limits hold for every member. With
  // several jobs members are learned at the same time, and on_epoch is called by one of them at a time; it may look at
  // all members. Several workers: rows are dealt to them (deal_rows). In a team of several processes the rows are those
  // dealt to the workers of this one, one worker after the other. A row of weight w, if weights are given, counts as w
  // rows that are equal but independent: its likelihood to the power w, everywhere. One of weight 0 is left out. Joint
  // learning only.
  FitReport fit(const Eigen::MatrixXd& inputs, const Eigen::MatrixXd& targets, const LearnOptions& options = {},
                const BnnCallback& on_epoch = {}, const Eigen::VectorXd& weights = {});

  // Asked by fits to come while they learn networks that only judge (rows held out), of which no callback is told;
  // false: the fit ends as if its first epoch were interrupted. Where time is limited, `seconds_left` says how much
  // there is: no more widths, members and fits without far rows are tried than fit into it, and results depend on it.
  void keep_going_while(std::function<bool()> asked, std::function<double()> seconds_left = {}) {
    keep_going_ = std::move(asked), seconds_left_ = std::move(seconds_left);
  }

  // Learns more rows on top of a finished fit to `known` rows (or weights of rows, added up), which need not be of this
  // process: what is known of the network's weights is the prior, and the old rows are not needed. Units stay those of
  // the fit. Weights of the new rows as in fit(). Joint learning only. False: something was still changing at the limit
  // of steps.
  bool update(const Eigen::MatrixXd& inputs, const Eigen::MatrixXd& targets, std::size_t known,
              const Eigen::VectorXd& weights = {});

  // Const members may be called by several threads at once.
  Prediction predict(const Eigen::MatrixXd& inputs) const;
  // The learned rows (without far ones), each as if it had not been learned. Only joint learning knows them, and only
  // after fit().
  std::optional<Prediction> left_out() const;

  // The factor graph of one example, in standardised units, as predict() computes it (mixture_graph): networks with
  // their noise and tails, the linear baseline, and what chooses between them. Neighbours and the doubt of
  // extrapolation are not in it. It stays until the network learns more.
  const Graph& graph() const;
  // The network of a member, which messages sweep, and the beliefs of its weights: a layer's matrix row by row, then
  // its biases.
  const Graph& graph(std::size_t member) const;
  std::vector<Gaussian> weights(std::size_t layer, std::size_t member = 0) const;
  const LayerPrior& prior(std::size_t layer, std::size_t member = 0) const;
  // `count` draws of all weights of a member from the factorised posterior, layer after layer, one draw per row.
  Eigen::MatrixXd sample_weights(std::size_t count, std::uint64_t seed, std::size_t member = 0) const;
  // Standard deviation per output, in the units of the targets. Learned noise is the one that explains the training
  // rows best, each predicted as if its batch had not been learned.
  std::vector<double> noise() const;

  const BnnOptions& options() const { return options_; }
  const FitReport& last_fit() const { return report_; }
  Learner& learner(std::size_t member = 0);
  const Learner& learner(std::size_t member = 0) const;

  // All that was learned, to be saved and given back (bnn_file.h).
  struct Memory {
    Standardiser inputs, targets;
    std::vector<double> noise_variance;  // of predictions, per output, in standardised units
    struct Member {
      std::vector<double> noise_variance;  // of training
      Learner::Memory learner;
      std::vector<LayerPrior> priors;
    };
    std::vector<Member> members;
    std::optional<JointRegression::Memory> joint = {};
    std::optional<Neighbours::Memory> neighbours = {};
  };
  // With `condensed`, the stored batch messages are replaced by their product: enough to predict, not to go on fitting.
  Memory memory(bool condensed) const;
  // Puts back what memory() gave, into a network made with the same options. To go on fitting, give the options of that
  // fit too; a condensed memory needs none.
  void restore(Memory memory, const LearnOptions& fit_options = {.batches = 1});

 private:
  struct Member;
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  FitReport fit_dealt(const Eigen::MatrixXd& inputs, const Eigen::MatrixXd& targets, WorkerTeam& team,
                      const LearnOptions& options, const BnnCallback& on_epoch);
  void add_member();
  void make_member(std::size_t index, const LearnOptions& options);
  std::unique_ptr<Learner> make_learner(const Member& member, LearnOptions options) const;
  BnnShape drawn_shape() const;
  Graph whole_graph() const;
  LearnReport fit_member(std::size_t index, const RowMajor& x, const RowMajor& y, const TeamSum& sum,
                         const LearnOptions& options, const BnnCallback& on_epoch);
  std::vector<Eigen::Index> learning_order(std::size_t member, const std::vector<Partition::Range>& parts,
                                           std::size_t first_worker) const;
  void fit_members(const RowMajor& x, const RowMajor& y, const TeamSum& sum, const LearnOptions& options,
                   const BnnCallback& on_epoch);
  void update_noise(Member& member, std::span<const double> targets);
  void update_priors(Member& member);
  // Means and sds without noise of the learned rows, each as if its batch had not been learned, of every fitted member.
  std::vector<PredictionComponent> left_out_of_members(const RowMajor& x, const TeamSum& sum) const;
  void choose_prediction_noise(const std::vector<PredictionComponent>& left_out, const RowMajor& y, const TeamSum& sum);
  void make_baseline();
  void mix_with_baseline(std::vector<PredictionComponent> left_out, const RowMajor& x, const RowMajor& y,
                         std::size_t jobs);
  std::vector<double> mix_with_neighbours(RowData data, const LearnOptions& options);
  void set_joint_noise(std::vector<double> of_networks);
  std::vector<PredictionComponent> joint_left_out() const;
  // Scores are those of judged rows; none: of all.
  void report_left_out(const std::vector<PredictionComponent>& left_out, const Eigen::MatrixXd& targets,
                       const std::vector<Index>& judged = {});
  // Hidden layers and noise are learned jointly of standardised columns, by one worker.
  bool learns_table(const LearnOptions& options) const;
  void make_joint();
  void take_shape_of_joint();
  void fit_joint(const Eigen::MatrixXd& inputs, const Eigen::MatrixXd& targets, const LearnOptions& options,
                 const BnnCallback& on_epoch);
  FitReport fit_near_rows(const Eigen::MatrixXd& inputs, const Eigen::MatrixXd& targets,
                          const Eigen::VectorXd& weights, const LearnOptions& options, const BnnCallback& on_epoch);
  std::vector<Index> find_far(const Eigen::MatrixXd& inputs, const Eigen::MatrixXd& targets) const;
  double score_with_far(const Eigen::MatrixXd& inputs, const Eigen::MatrixXd& targets,
                        const Eigen::VectorXd& weights) const;
  bool is_fitted() const;  // some of it
  bool joint_is_fitted() const;
  void describe_joint_members();

  BnnOptions options_;
  BnnShape shape_;
  FeatureMap features_;
  Standardiser input_standardiser_, target_standardiser_;
  std::vector<std::unique_ptr<Member>> members_;
  std::vector<double> noise_variance_;  // of predictions, standardised
  FitReport report_;
  std::function<bool()> keep_going_;
  std::function<double()> seconds_left_;
  std::unique_ptr<JointRegression> joint_;     // or, of other methods, the linear baseline
  std::optional<Neighbours> neighbours_;
  PredictionComponent neighbours_left_out_;
  std::vector<Index> judged_;  // distinct rows that no part of the mixture was chosen by; empty: all judge
  double network_fraction_ = 1;                   // of other methods
  std::vector<PredictionComponent> left_out_;  // of other methods, standardised
  std::optional<std::uint64_t> learned_rows_;  // their checksum; none: nothing is learned, or it was restored
  std::vector<Index>
      learned_as_;  // of every row, the number of the distinct one it repeats; empty: no row repeats another
  std::vector<Index> far_;  // rows that are not learned
  Vector row_weights_;      // of those that are; empty: 1 for all
  Eigen::MatrixXd left_out_residuals_, left_out_deviations_;  // these in standard deviations
};

// Throws Error for a memory that cannot be one of a network with these options: sizes, signs, numbers that are not
// finite. The messages in it are checked by Learner::restore().
void check_memory(const BnnOptions& options, const Bnn::Memory& memory);

}  // namespace dma
