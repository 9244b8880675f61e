// Parts of a mixture: components with their weights, and what classes need in place of densities of numbers.
#pragma once

#include "engine/learn/gaussian/curvature/targets.h"
#include "models/learn/table_method.h"

namespace dma {

// Gives a component its own weight and takes that from the others.
void add_component(PredictionComponent own, std::vector<PredictionComponent>& all);

// Log density of every target, a block of rows after the other: a mixture of a million rows is larger than the table.
Matrix log_densities(const std::vector<PredictionComponent>& components, const Matrix& targets);

// Rows x (classes - 1): 1 where a row is of a class, the first left out.
Eigen::MatrixXd one_column_per_class(const Eigen::MatrixXd& numbers, std::size_t classes);

// Probabilities of classes, rows x classes, as a part of a mixture. One score tells two classes apart: then the
// component has the second one's alone.
PredictionComponent component_of_classes(const Eigen::MatrixXd& probabilities, double weight,
                                         const OutputLikelihoods& likelihoods);
Eigen::MatrixXd probabilities_of(const Eigen::MatrixXd& means, std::size_t classes);  // means of a mixture

// The frequencies of classes, the simplest model of all. Half a row of every class is added: no class is impossible.
struct ClassFrequencies {
  ClassFrequencies(const Eigen::VectorXd& numbers, std::size_t classes, const Eigen::VectorXd& weights);
  // Its fraction beside a model whose left-out rows have this log density; never quite 0: no row has probability 0.
  double fraction_beside(double log_density, double rows) const;

  std::vector<Eigen::Index> classes;  // numbered from 0, one per row
  Eigen::VectorXd all;                // frequencies
  Eigen::MatrixXd without_each;       // rows x classes, by all rows but one
  double log_density = 0;             // sum over rows, each left out
  ClassScores scores;
};

void report_classes_left_out(const std::vector<PredictionComponent>& left_out, const Eigen::VectorXd& numbers,
                             const Eigen::VectorXd& weights, TableReport& report);

}  // namespace dma
