// A Bayesian neural network whose weights are learned by sweeps of messages, the paper's way: members from different
// draws of the prior, mixed equally; beside them, where asked for, the linear model.
#pragma once

#include <memory>

#include "engine/learn/gaussian/ensemble.h"
#include "engine/learn/messages/learner.h"
#include "engine/learn/messages/stored_messages.h"
#include "models/learn/table_method.h"
#include "models/network/bnn.h"
#include "models/network/network_graph.h"
#include "models/table/feature_map.h"
#include "models/table/standardiser.h"

namespace dma {

class MessageNetwork : public TableMethod {
 public:
  explicit MessageNetwork(BnnOptions options);
  ~MessageNetwork() override;

  // Members are learned one after the other; on_epoch may look at all of them. Several workers: rows are dealt to them
  // (deal_rows). In a team of several processes the rows are those dealt to the workers of this one, one worker after
  // the other.
  TableReport fit(const TableRows& rows, const TableFit& fit) override;
  bool update(const TableRows& more, double known) override;
  Prediction predict(const Eigen::MatrixXd& inputs) const override;
  std::optional<Prediction> left_out() const override;
  Graph graph(std::size_t member = 0) const override { return members_.at(member).net.graph; }
  std::vector<LearnedVariable> variables() const override;
  std::vector<double> noise() const override;
  double products_per_row() const override;
  void list(Fields& fields, bool whole) override;
  void check() const override;

  // Before a checkpoint is read: the options of its fit, and how many mini-batches they make.
  void go_on_with(const LearnOptions& options, std::size_t batches);
  const Learner& learner(std::size_t member) const { return *members_.at(member).learner; }
  Learner& learner(std::size_t member) { return *members_.at(member).learner; }
  const LayerPrior& prior(std::size_t layer, std::size_t member) const { return members_.at(member).priors.at(layer); }
  std::size_t members() const { return members_.size(); }
  const Standardiser& input_units() const { return inputs_; }
  const Standardiser& target_units() const { return targets_; }
  const std::vector<EpochRecord>& epochs(std::size_t member) const { return learner(member).memory().epochs; }

 private:
  struct Member {
    std::vector<LayerPrior> priors = {};
    BnnGraph net = {};
    std::vector<double> noise_variance = {};  // per output, standardised
    std::unique_ptr<Learner> learner = {};
    bool is_fitted() const { return learner && !learner->memory().epochs.empty(); }
  };
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  bool is_fitted() const;  // some of it
  void make_learner(Member& member, LearnOptions options) const;
  void fit_dealt(const TableRows& rows, WorkerTeam& team, const TableFit& fit);
  void fit_members(const RowMajor& x, const RowMajor& y, const TeamSum& sum, const TableFit& fit);
  LearnReport fit_member(std::size_t index, const RowMajor& x, const RowMajor& y, const TeamSum& sum,
                         const TableFit& fit);
  std::vector<Eigen::Index> learning_order(std::size_t member, const std::vector<Partition::Range>& parts,
                                           std::size_t first_worker) const;
  void update_noise(Member& member, std::span<const double> targets);
  // Means and sds without noise of the learned rows, each as if its batch had not been learned, of every fitted member.
  std::vector<PredictionComponent> left_out_of_members(const RowMajor& x, const TeamSum& sum) const;
  void choose_prediction_noise(const std::vector<PredictionComponent>& left_out, const RowMajor& y, const TeamSum& sum);
  void make_linear();
  void mix_with_linear(std::vector<PredictionComponent> left_out, const RowMajor& x, const RowMajor& y,
                       std::size_t jobs);
  void add_linear(std::vector<PredictionComponent> linear, std::vector<PredictionComponent>& members) const;

  BnnOptions options_;
  FeatureMap features_;
  Standardiser inputs_, targets_;
  std::vector<Member> members_;
  std::vector<double> noise_variance_;  // one per output, standardised
  std::optional<Ensemble> linear_;
  double fraction_ = 1;
  TableReport report_;
  std::vector<PredictionComponent> left_out_;  // standardised
  // Memory of every member from the rows of all processes, for the one that writes a file; empty: one has all.
  std::vector<LearnMemory> gathered_;
  std::optional<LearnOptions> go_on_with_;
  std::size_t batches_ = 1;
  std::optional<std::uint64_t> learned_rows_;  // their checksum; none: nothing is learned, or it was restored
};

// Different streams of randomness from one seed.
std::uint64_t seed_of(std::uint64_t seed, std::uint64_t member, std::uint64_t purpose);

}  // namespace dma
