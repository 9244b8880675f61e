#include "models/learn/log_target.h"

#include <cmath>
#include <limits>

#include "models/learn/far_rows.h"
#include "models/table/log_scale.h"

namespace dma {

namespace {

constexpr double kLeastGain = 4;     // nats of all rows
constexpr double kMostError = 1.05;  // times the RMSE before

// A screen that costs nothing: ratios to the predictions are more probable than differences from them, each under its
// likeliest Gaussian.
bool has_relative_noise(const Eigen::ArrayXd& targets, const Eigen::ArrayXd& predicted) {
  const Eigen::ArrayXd logs = targets.log(), ratios = logs - predicted.max(targets.minCoeff()).log();
  const double of_ratios = std::sqrt((ratios - ratios.mean()).square().mean()),
               of_differences = std::sqrt((targets - predicted).square().mean());
  return std::log(of_ratios) + logs.mean() < std::log(of_differences);
}

// Targets to be learned by logarithms. These have no tangent: later numbers of 0 and less are refused.
Eigen::RowVectorXd log_from(const TableLearner& learner, const TableRows& rows) {
  Eigen::RowVectorXd from = skewed_from(rows.targets, rows.weights);
  for (Index j = 0; j < from.size(); ++j) {
    const Eigen::VectorXd targets = rows.targets.col(j);
    const bool is_wanted = from(j) > 0 && (!learner.far().empty() ||
                                           has_relative_noise(targets, targets - learner.left_out_residuals().col(j)));
    from(j) = is_wanted ? std::numeric_limits<double>::min() : 0;
  }
  return from.isZero(0) ? Eigen::RowVectorXd() : from;
}

bool predicts_as_well(TableLearner& next, TableLearner& known, const TableRows& rows) {
  for (std::size_t j = 0; j < known.report().left_out.size(); ++j)
    if (!(next.report().left_out[j].scores.rmse <= kMostError * known.report().left_out[j].scores.rmse)) return false;
  return score_with_far(next, rows) > score_with_far(known, rows) + kLeastGain;
}

}  // namespace

void try_logarithms(TableLearner& learner, const TableRows& rows, const TableFit& fit, double seconds_taken) {
  const TableLearnOptions& options = learner.options();
  const bool has_all_rows = !fit.options.team || fit.options.team->is_whole();
  if (!options.log_target || !options.standardise || options.classes > 0 || !has_all_rows ||
      !options.ensemble.mixture.learn_noise || !learner.graphs().mixture().model().likelihoods.empty() ||
      learner.target_units().log_from.size() > 0 || learner.report().interrupted ||
      (fit.seconds_left && fit.seconds_left() < seconds_taken))
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
