// What a JointLearner keeps, for the files that implement it.
#pragma once

#include <optional>

#include "engine/learn/joint/joint_learner.h"
#include "engine/learn/joint/posterior.h"

namespace dma {

struct JointLearner::Impl {
  struct Start {
    Vector mean;        // of all scalars
    Vector anchor;      // where it began
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
  SharedPrior prior(const Start& start) const;
  void check_fitted(std::string_view what) const;
  // The targets of some examples, a class as 0 or 1 for each of its outputs. An Error where a likelihood cannot have
  // made a value.
  Matrix targets_of(const Data& examples, std::string_view what) const;
  void set_frozen(VariableId shared, bool frozen, std::string_view what);
  // Sets their weights, by evidence. An Error where it is -inf for all: the numbers overflow.
  static void weigh(std::vector<Start>& starts);
  std::vector<JointLearnReport::Precision> precisions(const Start& start) const;
  void make_starts();
  void learn(Start& start, std::size_t index, std::size_t jobs, const std::function<bool(const JointEpoch&)>& told);
  JointLearnReport learn();
  PredictionComponent part(const Start& start, RowBeliefs beliefs) const;  // of the mixture
};

// The columns of `variables`, one example a row, then those of `tables`. `what` is the call that errors name.
Matrix gather_rows(const Graph& graph, const std::vector<VariableId>& variables,
                   const std::vector<RowProgram::Table>& tables, const Data& data, std::string_view what);

}  // namespace dma
