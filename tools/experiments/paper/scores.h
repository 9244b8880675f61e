// Scores of a fitted method on a task: the paper's, and those that do not reward a band for being too narrow.
#pragma once

#include <vector>

#include "engine/learn/gaussian/prediction.h"
#include "engine/support/json.h"
#include "tools/experiments/paper/task.h"

namespace dma::reproduce {

// Fraction of probabilities-from-below (prediction.cumulative(truth)) inside the central interval of that level.
double coverage(const Eigen::MatrixXd& cumulative, double level);
// Mean over all levels in [0, 1] of (coverage - level), exactly: mean(1 - |2 u - 1|) - 1/2.
double coverage_deviation(const Eigen::MatrixXd& cumulative);
// Mean of -log density over targets truth + noise: the expected score against what one could measure, by quadrature.
double noisy_nll(const Prediction& prediction, const Eigen::MatrixXd& truth, double noise);

// The predictive at the 60 points outside, as a score keeps it: of a task with one output.
Prediction outside_prediction(const Json& score);

// Mean over those points of KL(exact predictive || method's), given the scores of both: the cross entropy over the
// quantiles that stand for the exact posterior of the function and the noise around each, less the exact predictive's
// own entropy.
double predictive_kl(const Json& exact, const Json& other, double noise);

// Scores inside and outside the training range, a coverage curve, and the predictive (mean, sd) at the 60 points
// outside and, with `curves`, on a grid for pictures. Keys are those of Score.
Json score(const Task& task, const std::function<Prediction(const Eigen::MatrixXd&)>& predict, bool curves);

std::vector<double> numbers_in(const Json& list);

inline constexpr int kExtrapolationPoints = 60, kCalibrationPoints = 500, kPicturePoints = 241, kCurveLevels = 20;

}  // namespace dma::reproduce
