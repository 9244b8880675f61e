// Targets that count: whole numbers of 0 or more, of which a graph tells the logarithm of the mean.
#pragma once

#include <string>
#include <vector>

#include "engine/learn/gaussian/family.h"
#include "engine/learn/gaussian/prediction.h"

namespace dma {

class Fields;

// A count of mean exposure exp(f), f being an output of the graph: Poisson or, with a shape, negative binomial, whose
// variance is mean + mean^2 / shape.
struct CountNoise {
  double exposure = 1;
  double shape = 0;  // 0: Poisson

  static std::vector<CountNoise> poisson(const Eigen::MatrixXd& targets, const Eigen::VectorXd& weights);
  const char* kind() const { return shape > 0 ? "negative_binomial" : "poisson"; }
  std::vector<double> parameters() const;  // in the order of the kind
  std::string text() const;                // "negative binomial with shape 3.1"
};
void list_fields(Fields& f, CountNoise& noise);

// True if all targets are whole numbers of 0 or more, some above 1, that vary about what is predicted of them by half
// as much as Poisson counts or more.
bool may_count(const Eigen::MatrixXd& targets, const Eigen::MatrixXd& residuals, const Eigen::VectorXd& weights);

// The family with these likelihoods in place of Gaussian noise.
GraphFamily with_counts(GraphFamily family, const std::vector<CountNoise>& noise);

// The shape under which these counts are most probable, given predictions of the output that the count reads: 0 unless
// one is better than Poisson by four nats.
double likeliest_shape(const std::vector<PredictionComponent>& components, const Eigen::MatrixXd& targets,
                       Eigen::Index output, double exposure, const Eigen::VectorXd& weights);

// Log probability of targets that are whole numbers, summed over outputs: a density counts with its mass within half a
// unit.
Eigen::VectorXd log_mass_of_counts(const Prediction& prediction, const Eigen::MatrixXd& targets);

}  // namespace dma
