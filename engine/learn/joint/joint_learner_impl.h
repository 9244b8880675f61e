// What a JointLearner keeps, for the files that implement it.
#pragma once

#include <optional>

#include "engine/learn/joint/joint_learner.h"
#include "engine/learn/joint/posterior.h"

namespace dma {

struct JointLearner::Impl {
  struct Start {
    Vector mean;        // of all scalars
    SharedState state;  // its mean is of those that are not frozen
    SharedPosterior posterior;
    RowBeliefs left_out;
    double effective_scalars = 0;
    Vector determined;  // by group of scalars that share a precision
    double weight = 1;
    bool is_fitted() const { return posterior.factor.size() > 0; }
  };
  Graph graph;
  std::vector<VariableId> targets;
  RowProgram program;
  JointLearnOptions options;
  std::vector<std::uint8_t> is_frozen;  // by scalar
  RowData data = {};
  std::size_t known = 0;       // examples learned
  bool rows_are_there = true;  // all of them
  std::vector<Start> starts = {};

  // The model of the scalars that are not frozen, and their prior.
  std::vector<Index> free() const;
  std::unique_ptr<RowModel> model_of(const Start& start) const;
  SharedPrior prior() const;
  void check_fitted(std::string_view what) const;
  // Whether the likelihoods can have made these values of the targets.
  void check_targets(const Matrix& values, std::string_view what) const;
  void set_frozen(VariableId shared, bool frozen, std::string_view what);
  // Sets their weights, by evidence. An Error where it is -inf for all: the numbers overflow.
  static void weigh(std::vector<Start>& starts);
  std::vector<JointLearnReport::Precision> precisions(const Start& start) const;
  void make_starts();
  void learn(Start& start, std::size_t index, std::size_t jobs, const std::function<bool(const JointEpoch&)>& told);
  JointLearnReport learn();
  PredictionComponent part(const Start& start, RowBeliefs beliefs) const;  // of the mixture
};

// An Error where a matrix over all shared scalars is too large, or there is none.
void check_size(const RowProgram& program);
// Whether one of some scalars that has influence at a draw from the prior has none on these rows at its mean, as in a
// network whose weights are all 0.
bool has_dead_scalar(const RowProgram& program, const Matrix& rows, std::uint64_t seed, std::vector<Index> some);

// The columns of `variables`, one example a row, then those of `tables`. `what` is the call that errors name.
Matrix gather_rows(const Graph& graph, const std::vector<VariableId>& variables,
                   const std::vector<RowProgram::Table>& tables, const Data& data, std::string_view what);

}  // namespace dma
