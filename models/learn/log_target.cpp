#include "models/learn/log_target.h"

#include <cmath>
#include <limits>

#include "models/learn/far_rows.h"
#include "models/table/log_scale.h"

namespace dma {

namespace {

constexpr double kLeastGain = 4;     // nats of all rows
constexpr double kMostError = 1.05;  // times the RMSE before

double mean_square(const Vector& values, const Vector& weights) {
  return weighted_sum(values.cwiseAbs2(), weights) / total_weight(values.size(), weights);
}

// A screen that costs nothing: ratios to the predictions are more probable than differences from them, each under its
// likeliest Gaussian.
bool has_relative_noise(const Vector& targets, const Vector& residuals, const Vector& weights) {
  const double total = total_weight(targets.size(), weights);
  const Vector logs = targets.array().log(),
               ratios = logs.array() - (targets - residuals).array().max(targets.minCoeff()).log();
  const Vector off = ratios.array() - weighted_sum(ratios, weights) / total;
  return 0.5 * std::log(mean_square(off, weights)) + weighted_sum(logs, weights) / total <
         0.5 * std::log(mean_square(residuals, weights));
}

// Targets to be learned by logarithms. These have no tangent: later numbers of 0 and less are refused.
Eigen::RowVectorXd log_from(const TableLearner& learner, const TableRows& rows) {
  Eigen::RowVectorXd from = skewed_from(rows.targets, rows.weights);
  for (Index j = 0; j < from.size(); ++j) {
    const bool is_wanted =
        from(j) > 0 && (!learner.far().empty() ||
                        has_relative_noise(rows.targets.col(j), learner.left_out_residuals().col(j), rows.weights));
    from(j) = is_wanted ? std::numeric_limits<double>::min() : 0;
  }
  return from.isZero(0) ? Eigen::RowVectorXd() : from;
}

// Errors are those of the rows that both have learned; densities are of all.
bool predicts_as_well(TableLearner& next, TableLearner& known, const TableRows& rows) {
  const std::vector<Index> near = rows_but(known.far(), rows.targets.rows());
  const Vector weights = weights_of(rows.weights, near);
  for (Index j = 0; j < rows.targets.cols(); ++j) {
    const Vector errors = next.left_out_residuals().col(j)(near), before = known.left_out_residuals().col(j);
    if (!(mean_square(errors, weights) <= kMostError * kMostError * mean_square(before, weights))) return false;
  }
  return score_with_far(next, rows) > score_with_far(known, rows) + kLeastGain;
}

}  // namespace

void try_logarithms(TableLearner& learner, const TableRows& rows, const TableFit& fit, double seconds_taken) {
  const TableLearnOptions& options = learner.options();
  if (!options.log_target || !options.standardise || options.classes > 0 ||
      !options.ensemble.mixture.learn_noise || !learner.graphs().mixture().model().likelihoods.empty() ||
      learner.target_units().log_from.size() > 0 || learner.report().interrupted ||
      !TableLearner::control_of(fit).has_time_for(seconds_taken))
    return;
  const Eigen::RowVectorXd from = log_from(learner, rows);
  if (from.size() == 0) return;
  TableLearner next = learner.anew(true, from);
  next.fit_near(rows, {}, fit);
  if (next.report().interrupted) {
    learner.report().interrupted = true;
    learner.report().members.back().stop = LearnReport::Stop::interrupted;
    return;
  }
  if (!predicts_as_well(next, learner, rows)) return;
  next.report().form = learner.report().form;
  learner.replace_by(std::move(next));
}

}  // namespace dma
