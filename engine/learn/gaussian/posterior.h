// The part of a joint fit that is kept: enough to predict new rows, to be saved and to go on.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "engine/learn/gaussian/curvature/outcomes.h"
#include "engine/learn/gaussian/fit.h"
#include "engine/learn/gaussian/prediction.h"

namespace dma {

// Per row and output: the function's mean and variance, and the noise's variance before tails.
struct RowBeliefs {
  Matrix mean, variance, noise;
  std::vector<Matrix> covariances = {};  // by row, among its outputs, where a target is a class; or empty

  RowBeliefs some(const std::vector<Index>& which) const;
  OutcomeBeliefs outcomes(Index first, Index reads) const;  // for outputs that are log odds
};

struct SharedUpdate;

class SharedPosterior {
 public:
  SharedState state;
  std::vector<StudentTails> tails;   // per output
  std::vector<double> stretch = {};  // per output (most_likely_stretch); empty: 1
  double log_evidence = 0;
  // L = C C^T, whichever form it is kept in.
  Matrix precision_factor(const RowModel& model, const SharedPrior& prior) const;
  // Either the lower factor C of L = C C^T, or, learned in the dual, the rows it was learned from and their weights.
  Matrix factor, rows;
  Vector weights;

  // The posterior at a fitted state, whose linearisation the curvature holds.
  static SharedPosterior of(const RowData& data, SharedState state, Curvature& curvature, double log_evidence);

  RowBeliefs predict(const RowModel& model, const SharedPrior& prior, const Matrix& rows,
                     bool with_covariances = false) const;
  // The same after more rows: its Gaussian is their prior, and Gauss-Newton steps lead from its mean to theirs. The
  // level of the noise is then that of the `known` rows it was learned from and of the new ones together, or, where it
  // was given and not learned (nothing), what it was; its dependence on the inputs and its tails stay. One that is
  // kept as rows stays so, with the new ones, while these are no more than the scalars; any other is a P x P matrix.
  SharedUpdate updated(const RowModel& model, const SharedPrior& prior, const RowData& more,
                       std::optional<Index> known) const;
  bool stays_by_rows(const RowModel& model, Index more) const;
  // Variances of the shared scalars: P^3 products.
  Vector marginal_variances(const RowModel& model, const SharedPrior& prior) const;
};

struct SharedUpdate {
  SharedPosterior posterior;
  RowBeliefs left_out;   // the new rows, each as if it had not come
  bool settled = false;  // true unless mean or noise was still changing at the limit
};

// Every learned row as if it had not been: with o = 1 - h the others' fraction, residual r / o and variance
// s (1 - o) / o. Exact for linear models; for others as good as their linearisation.
RowBeliefs leave_one_out(const RowData& data, const Vector& noise, Curvature& curvature);
// The same where a target is a class, all targets of a row being left out at once: from N(f, C), with the curvature H
// and the slope r of its targets, its own Newton step is taken back, C' = (I - C H)^-1 C and f' = f - C' r. A row goes
// with all of its weight.
RowBeliefs leave_one_out(const RowModel& model, const RowData& data, const SharedPosterior& posterior);

// The solution at which a curvature stands after a fit: the posterior, with tails per output from left-out errors if
// they are asked for and the stretch of outcomes, and the learned rows, each left out.
struct SharedSolution {
  SharedPosterior posterior;
  RowBeliefs left_out;
};
// Tails per output that make these targets most likely under left-out beliefs.
std::vector<StudentTails> tails_of(const RowData& data, const RowBeliefs& left_out);
SharedSolution solution_of(const RowModel& model, const RowData& data, const SharedState& state, Curvature& curvature,
                           double log_evidence, bool tails);

// A posterior's beliefs about rows as a part of a mixture; for outcomes, their probabilities. The beliefs are taken
// over.
PredictionComponent component(RowBeliefs beliefs, const SharedPosterior& posterior, Matrix weight,
                              const OutputLikelihoods& likelihoods = {});

}  // namespace dma
