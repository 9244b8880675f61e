#include "models/learn/far_rows.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "engine/support/shuffle.h"
#include "engine/support/special_functions.h"

namespace dma {

namespace {

// The largest fraction of a table, the fewest rows that can tell, the fits without them.
constexpr double kMostFar = 0.1;
constexpr Index kFewestRows = 30;
constexpr int kMostRefits = 3;
constexpr Index kRowsPerFar = 100;

void fit_all_but(std::vector<Index> far, TableLearner& learner, const TableRows& rows, const TableFit& fit) {
  if (far.empty()) return learner.fit_near(rows, {}, fit);
  const TableRows near = rows.some(rows_but(far, rows.inputs.rows()));
  learner.fit_near(near, std::move(far), fit);
}

// Deviations are measured in units that half of the rows decide, since far rows stretch every other. Far rows may bend
// the fit until others deviate: those beyond the spread of the targets, before and after the fit, are far in any case,
// and the only ones where they would be too many. Where one value fills half of a column, rare values are no errors.
std::vector<Index> find_far(const TableLearner& learner, const TableRows& rows) {
  using Flags = Eigen::Array<bool, Eigen::Dynamic, 1>;
  constexpr double kMost = kFarDeviations / 0.6745;  // medians, which are 0.6745 of standard Gaussian numbers
  const Eigen::MatrixXd& targets = rows.targets;
  const std::vector<Index>& far = learner.far();
  const Prediction p = far.empty() ? Prediction() : learner.predict(rows.inputs(far, Eigen::all));
  const std::vector<Index> near = rows_but(far, targets.rows());
  Flags deviates = Flags::Constant(targets.rows(), false), stands_out = deviates;
  for (Index j = 0; j < targets.cols(); ++j) {
    Eigen::ArrayXd residuals(targets.rows()), deviations(targets.rows());
    residuals(near) = learner.left_out_residuals().col(j), deviations(near) = learner.left_out_deviations().col(j);
    if (!far.empty()) {
      residuals(far) = targets.col(j)(far) - p.mean.col(j);
      deviations(far) = residuals(far) / p.sd.col(j).array();
    }
    const Eigen::ArrayXd centred = targets.col(j).array() - median(targets.col(j));
    const double spread = kMost * median(centred.abs());
    if (!(spread > 0)) continue;
    deviates = deviates || deviations.abs() > kMost * median(deviations.abs());
    stands_out = stands_out || (centred.abs() > spread && residuals.abs() > spread);
  }
  const auto most = static_cast<Index>(kMostFar * static_cast<double>(targets.rows()));
  for (const Flags& is_far : {Flags(deviates || stands_out), stands_out}) {
    if (is_far.count() > most) continue;
    std::vector<Index> found;
    for (Index n = 0; n < targets.rows(); ++n)
      if (is_far(n)) found.push_back(n);
    return found;
  }
  return far;
}

}  // namespace

std::vector<Index> rows_but(const std::vector<Index>& some, Index rows) {
  std::vector<Index> rest;
  for (Index n = 0; n < rows; ++n)
    if (!std::ranges::binary_search(some, n)) rest.push_back(n);
  return rest;
}

double score_with_far(TableLearner& learner, const TableRows& rows) {
  const std::vector<Index>& far_rows = learner.far();
  const Vector weights_of_far = weights_of(rows.weights, far_rows);
  const double all = total_weight(rows.targets.rows(), rows.weights),
               far = total_weight(std::ssize(far_rows), weights_of_far);
  double sum = 0;
  for (const LeftOut& one : learner.report().left_out) sum += (all - far) * one.scores.log_likelihood;
  if (far_rows.empty()) return sum;
  sum += far * std::log(far / all) + (all - far) * std::log1p(-far / all) -
         0.5 * static_cast<double>(1 + rows.targets.cols()) * std::log(all);
  const Prediction p = learner.predict(rows.inputs(far_rows, Eigen::all));
  const Eigen::MatrixXd residuals = rows.targets(far_rows, Eigen::all) - p.mean;
  const auto size = [&](Vector values) {
    if (rows.weights.size() > 0) values = values.cwiseProduct(weights_of_far.cwiseSqrt());
    return values.stableNorm();
  };
  for (Index j = 0; j < rows.targets.cols(); ++j)
    sum -=
        far * (kHalfLogTwoPi + 0.5 + std::log(std::hypot(size(residuals.col(j)), size(p.sd.col(j))) / std::sqrt(far)));
  return sum;
}

TableReport fit_without_far_rows(TableLearner& learner, const TableRows& rows, const TableFit& fit) {
  const auto begin = std::chrono::steady_clock::now();
  fit_all_but(learner.far(), learner, rows, fit);
  const TableLearnOptions& options = learner.options();
  if (learner.report().interrupted || !options.far_rows || !options.ensemble.mixture.learn_noise ||
      options.classes > 0 || learner.target_units().log_from.size() > 0 ||
      !learner.graphs().mixture().model().likelihoods.empty() || rows.inputs.rows() < kFewestRows)
    return learner.report();
  std::optional<TableLearner> best;
  for (int refits = 0; refits < kMostRefits; ++refits) {
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;  // by all fits so far
    if (!TableLearner::control_of(fit).has_time_for(taken.count())) break;
    TableLearner& known = best ? *best : learner;
    std::vector<Index> far = find_far(known, rows);
    if (far.empty() || far == known.far()) break;
    const bool keeps_sizes = std::ssize(far) * kRowsPerFar <= rows.inputs.rows();  // a few rows change no size
    TableLearner next = learner.anew(keeps_sizes);
    fit_all_but(std::move(far), next, rows, fit);
    if (next.report().interrupted) {
      learner.report().interrupted = true;
      learner.report().members.back().stop = LearnReport::Stop::interrupted;
      return learner.report();
    }
    if (!(score_with_far(next, rows) > score_with_far(known, rows))) break;
    if (keeps_sizes) next.report().form = known.report().form;
    best = std::move(next);
  }
  if (best) learner.replace_by(std::move(*best));
  return learner.report();
}

}  // namespace dma
