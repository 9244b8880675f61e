// A table learned jointly: networks whose weights are one Gaussian, noise that depends on the inputs and has tails, and
// the linear model as a baseline. All numbers in standardised units.
//
// Every network is learned twice over: with constant noise, then on with rows weighted by their own noise. The first
// has the smaller squared error where noise is large, the second is far sharper where it is small; a row's prediction
// mixes them by its noise. Network and linear model are mixed by how well each predicts left-out rows and, where there
// are more weights than rows, by their evidence, so that data without structure get a linear or constant answer.
//
// The hidden units of a network have seen the rows that they are said to leave out. Where there are not many more rows
// than weights, networks are therefore learned from a part of the rows too, in turns, and what they say of the others
// decides: width, tails and scale of the noise, fractions of the mixture and every claim (held_out.cpp,
// hidden_layers.cpp).
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/learn/joint/posterior.h"
#include "models/network/solver_form.h"
#include "models/network/bnn_graph.h"
#include "models/table/noise.h"
#include "engine/learn/joint/prediction.h"

namespace dma {

struct JointRegressionOptions {
  BnnShape shape;
  SharedPrior prior = {};             // of the network; empty: N(0, prior_variance_scale / fan-in)
  double prior_variance_scale = 1;
  bool learn_scale = true;           // one factor on all prior variances
  // Prior means of hidden weights are where a member starts instead of 0: units the data do not need stay as they were
  // drawn, and with them the uncertainty where there are no data.
  bool anchored = true;
  std::vector<double> noise = {};    // variance per output where it is known; empty: learned
  NoiseModel noise_model = NoiseModel::choose;  // where noise is learned
  bool tails = true, linear_baseline = true, doubt_extrapolation = true;
  int epochs = 60, weighted_epochs = 40;  // limits
  double least_gain = 0.0003;             // see SharedFitOptions
  bool choose_relevance = true;           // of the inputs, by evidence: models/table/relevance.h
  bool choose_smoothing = true;  // the shape's is where to start from: smoothing_choice.h
  bool hold_out = true;          // judge by rows held out where leverage would flatter; otherwise always by leverage
  bool choose_width = false;     // and depth, by rows held out: 10, 20, 50, ... units while they gain, then two layers
  std::size_t members = 0;  // networks from different draws, mixed; 0: as many as take little time, up to four
  std::uint64_t seed = 1;
  std::size_t jobs = 1;                        // threads; no result depends on them
  std::shared_ptr<WorkerTeam> team = nullptr;  // see Curvature::use_threads(); the rows are those of all workers
  StageWatch on_stage = {};
  std::function<bool()> keep_going = {};  // asked in epochs of networks that are learned to judge; false: no more
  std::function<double()> seconds_left = {};  // of a limited time: no more is tried than fits into it
};

struct JointRegressionReport {
  SolverForm form;
  std::vector<int> epochs;    // of every member
  std::vector<bool> settled;  // whether every stage of its learning ended because nothing more was gained
  double network_fraction = 1;  // of the mixture of network and linear model
  bool interrupted = false;
  std::vector<double> noise;  // of the learned rows, see JointRegression::noise()
};

class JointRegression {
 public:
  explicit JointRegression(JointRegressionOptions options);

  struct Progress {
    std::size_t member = 0;
    SharedEpoch epoch;
    std::vector<double> noise;  // geometric mean of the variance over rows, per output
  };
  // Chooses smoothing, width and number of members, and learns the networks that hold rows out; fit() then takes the
  // same data. Without it fit() begins with it. True: nothing but a first epoch was learned before, and learning begins
  // anew.
  bool prepare(const RowData& data);
  // Goes on where an interrupted fit stopped. All members are learned with constant noise, then those that the linear
  // model has not beaten with weighted rows; with several jobs at the same time. on_epoch is called by one of them at a
  // time, and memory() then has every member as its last epoch left it.
  JointRegressionReport fit(RowData data, const std::function<bool(const Progress&)>& on_epoch = {});

  // Learns more rows on top of what `known` rows taught, without those: every Gaussian is the prior of its update. The
  // level of the noise, unless it was given, and the fractions of network and linear model follow the new rows too; how
  // noise depends on inputs, and its tails, stay. False: something was still changing at the limit of steps. An Error
  // before any fit, or where a matrix over all weights would be too large.
  bool update(const RowData& more, Index known);

  // The limits of the next fit; a gain of 0 leaves the default.
  void set_limits(int epochs, int weighted_epochs, double least_gain);
  void use_threads(std::size_t jobs, std::shared_ptr<WorkerTeam> team, StageWatch on_stage = {},
                   std::function<bool()> keep_going = {}, std::function<double()> seconds_left = {}) {
    options_.jobs = jobs, options_.team = std::move(team), options_.on_stage = std::move(on_stage);
    options_.keep_going = std::move(keep_going), options_.seconds_left = std::move(seconds_left);
  }

  std::vector<PredictionComponent> predict(const Matrix& rows) const;
  // Geometric mean of the noise variance of these rows, per output; tails count as if they had 4 degrees of freedom or
  // more.
  std::vector<double> noise(const Matrix& rows) const;
  // The learned rows, each as if it had not been learned; after fit() only. Those of judged() by networks that have not
  // learned it, others by leverage; empty: all are of one kind.
  const std::vector<PredictionComponent>& left_out() const { return left_out_; }
  const std::vector<Index>& judged() const { return judged_; }

  // Of an output, in all models and in what left_out() says.
  void scale_noise(Index output, double factor);

  // Mean and variance of every weight of a member.
  struct Marginals {
    Vector mean, variance;
  };
  Marginals weights(std::size_t member) const;
  // Of all weights; those of inputs that do not matter are 0.
  SharedPrior prior_of(std::size_t member) const;
  // What predict() mixes, but for the doubt of extrapolation.
  std::vector<MixedNetwork> networks() const;
  std::size_t members() const { return memory_.members.size(); }

  struct Member {
    SharedState plain, weighted;  // to go on from
    bool plain_done = false;
    std::optional<SharedPosterior> plain_posterior, weighted_posterior;
    double plain_evidence = 0;  // with constant noise
  };
  struct Memory {
    std::vector<Member> members;
    std::optional<SharedPosterior> baseline;
    double network_fraction = 1;
    double smoothing = -1;                  // of all networks; below 0: the shape's
    Vector relevance = {};                  // factors on the prior variances of the inputs' weights; empty: 1
    std::string width_reason;               // why this width; empty: it was given
    Eigen::RowVectorXd lowest, highest;  // of every column of the learned rows
  };
  const Memory& memory() const { return memory_; }
  void restore(Memory memory);
  const JointRegressionOptions& options() const { return options_; }
  const NetworkOfColumns& network() const { return network_; }

 private:
  struct Fitting;
  // Rows held out of a network that learned others.
  struct Part {
    std::vector<Index> held, learned;
    std::unique_ptr<JointRegression> model;
  };
  bool has_time_for(double seconds) const { return !options_.seconds_left || seconds <= options_.seconds_left(); }
  // Of a network of this shape that is learned to be tried; of all that is learned after trials that take so long.
  double usual_trial_seconds(const RowData& data) const;
  double seconds_after_trials(double trial, const RowData& data, std::size_t members = 1, bool judges = true) const;
  void expect_end_after(double seconds);
  void tell(std::string what, double fraction) const;
  void deal_parts(Index rows, bool trial);
  bool learn_parts(const RowData& data, std::size_t first, std::size_t count);
  void choose_smoothing_by(const RowData& data);
  bool try_widths(const RowData& data);
  Matrix scores_of_parts(const RowData& data, std::size_t count) const;
  void collect_parts(Fitting& fitting);
  void judge(const Fitting& fitting, const RowBeliefs& held, SharedSolution& found) const;
  double score_judged(const std::vector<PredictionComponent>& components, const RowData& data) const;
  double fraction_of_each() const;  // fitted network, of the mixture
  std::vector<RowBeliefs> beliefs_of_networks(const Matrix& rows) const;
  void set_smoothing(double smoothing);
  void set_relevance(Vector relevance);
  SharedPrior learned_prior(std::size_t member) const;  // of the weights that are learned
  Vector of_all_inputs(const Vector& of_weights, double unseen) const;
  SharedState first_state(std::size_t member, Index outputs) const;
  void watch(Curvature& curvature, const char* what) const;
  void fit_baseline(Fitting& fitting);
  double nats_ahead(const Fitting& fitting, double score, std::size_t members) const;
  SharedFitOptions fit_options(Fitting& fitting, std::size_t index, SharedState Member::*stage,
                               const SharedState& state);
  std::unique_ptr<Curvature> curvature_for(const Fitting& fitting) const;
  void fit_plain(Fitting& fitting, std::size_t index);
  void fit_weighted(Fitting& fitting, std::size_t index);
  std::size_t at_once(const SolverForm& form, std::size_t networks) const;
  bool noise_by_inputs() const { return options_.noise_model != NoiseModel::constant; }
  std::vector<double> fit_noise(std::vector<PredictionComponent>& components, const RowData& data) const;
  void widen_to_cover(const RowData& data);
  const SharedPosterior& told_of(double network_fraction) const;
  std::vector<double> noise_before_tails(const Matrix& rows, double network_fraction) const;
  std::vector<double> with_tails(std::vector<double> noise) const;
  void doubt_extrapolation(const SharedPosterior& posterior, const Matrix& rows, RowBeliefs& beliefs) const;

  JointRegressionOptions options_;
  NetworkOfColumns network_;
  LinearRows linear_;
  SharedPrior drawn_prior_, prior_, linear_prior_;  // what members start from; of their weights; of the linear model
  Memory memory_;
  std::vector<PredictionComponent> left_out_;
  bool prepared_ = false;
  std::vector<Part> parts_;
  std::vector<SharedState> starts_;  // of the first members: where a part of the rows has led them
  std::vector<Index> judged_;
  double trial_seconds_ = 0;  // of a network that a trial learns
  std::chrono::steady_clock::time_point expected_end_ = {};
};

}  // namespace dma
