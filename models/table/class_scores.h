// Scores of class probabilities against the observed classes.
#pragma once

#include <Eigen/Core>
#include <span>
#include <vector>

namespace dma {

class Fields;

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
