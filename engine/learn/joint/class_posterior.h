// What is known after learning classes: Gaussian logits of any row, and the probabilities of its classes.
#pragma once

#include "engine/learn/joint/class_fit.h"

namespace dma {

// Logits of every row: means, and a factor F of their covariance F F^T.
struct LogitBeliefs {
  Matrix mean;
  std::vector<Matrix> factors;
};

// Logits linearised at the mean: f(m) and J L^-1 J^T.
LogitBeliefs logits(const RowModel& model, const Vector& mean, const ClassFactor& factor, const Matrix& rows);

// Every learned row as if it had not been: from N(f, C), with curvature H and gradient r of its class, its own Newton
// step is taken back, C' = (I - C H)^-1 C and f' = f - C' r. A row goes with all of its weight.
LogitBeliefs leave_one_out(const RowModel& model, const Vector& mean, const ClassFactor& factor, const ClassData& data);

// E[softmax(f)] over f ~ N(stretch * mean, F F^T).
Matrix class_probabilities(const LogitBeliefs& beliefs, double stretch);

// The posterior of separable classes is skewed: its mode, where Laplace's Gaussian sits, is far below its mean while
// the width is right. One factor on all means mends most of that: the one that makes left-out rows most probable, held
// near 1 by a prior N(0, 1) of its logarithm that a handful of rows cannot overrule.
double most_likely_stretch(const LogitBeliefs& left_out, std::span<const Index> classes, const Vector& weights = {});

// All that was learned, with what it takes to predict.
struct ClassSolution : ClassFit {
  double stretch = 1;
  Matrix left_out;  // probabilities of the learned rows, each as if it had not been learned
  double score = 0;  // sum of the logarithms of those of their classes
  Matrix predict(const RowModel& model, const Matrix& rows) const {
    return class_probabilities(logits(model, mean, factor, rows), stretch);
  }
};
ClassSolution solve_classes(const RowModel& model, const ClassData& data, const ClassPrior& prior, Vector start,
                            const ClassFitOptions& options);
double log_score(const Matrix& probabilities, std::span<const Index> classes, const Vector& weights = {});

}  // namespace dma
