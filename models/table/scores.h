// Scores of predictions against the observations.
#pragma once

#include <Eigen/Core>
#include <functional>
#include <span>
#include <vector>

#include "engine/learn/gaussian/prediction.h"

namespace dma {

class Fields;

// Scores of the predictions of one output.
struct Scores {
  double rmse = 0;
  double log_likelihood = 0;  // mean log density, in the units of the data
  // Fraction of the observations inside the central intervals that should hold 50, 90 and 95 % of them.
  double coverage_50 = 0, coverage_90 = 0, coverage_95 = 0;
};

void list_fields(Fields& f, Scores& scores);
void check(const Scores& scores);  // an Error for what cannot be scores

// P(Y <= y) of every target; for a count P(Y < y) + P(Y = y) / 2, whose mean is a half too.
Eigen::MatrixXd mass_below(const Prediction& prediction, const Eigen::MatrixXd& targets);

// Fraction of the variance of the targets that predictions with this error explain: 1 - rmse^2 / variance. 0 where the
// targets are all the same.
double fraction_explained(double rmse, const Eigen::VectorXd& targets, const Eigen::VectorXd& weights = {});

// Rows count by their weights, here and below, if they have any.
std::vector<Scores> scores_of(const Prediction& prediction, const Eigen::MatrixXd& targets,
                              const Eigen::VectorXd& weights = {});
// Predicts `rows` rows from `begin` on.
using PredictedRows = std::function<Prediction(Eigen::Index begin, Eigen::Index rows)>;
// The same of predictions that are made as they are needed.
std::vector<Scores> scores_of(const PredictedRows& predicted, const Eigen::MatrixXd& targets,
                              const Eigen::VectorXd& weights = {});

// The fraction f of a second model, so many nats ahead in each row, under which rows are most probable:
// sum_n log(1 - f + f exp(ahead_n)); 0 unless they gain more than the doubt, 1 where it is next to 1.
double likeliest_fraction(const Eigen::VectorXd& ahead, double doubt, const Eigen::VectorXd& weights = {});

class Fields;

// Scores of class probabilities against the observed classes.
struct ClassScores {
  double accuracy = 0;  // fraction of rows whose most probable class is theirs
  double log_loss = 0;  // mean of -log p(class)
  // Expected calibration error: rows in ten bins by the probability of their most probable class; how far its mean is
  // from the accuracy there, averaged over rows.
  double calibration_error = 0;
};

void list_fields(Fields& f, ClassScores& scores);
void check(const ClassScores& scores);  // an Error for what cannot be scores

// Probabilities: rows x classes. Rows count by their weights, if they have any.
ClassScores class_scores_of(const Eigen::MatrixXd& probabilities, std::span<const Eigen::Index> classes,
                            const Eigen::VectorXd& weights = {});

// The most probable class of every row; the first of equals.
std::vector<Eigen::Index> most_probable(const Eigen::MatrixXd& probabilities);

}  // namespace dma
