#include "tools/dma/regression_task.h"

#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <boost/random/uniform_real_distribution.hpp>
#include <cmath>

#include "models/feature_map.h"

namespace dma {

namespace {

// Three independent streams of randomness from one seed; none is that of a model fitted with the same seed.
constexpr std::uint64_t kMeans = 0xa0761d6478bd642f, kWeights = 0xe7037ed1a0b428db, kRows = 0x8ebc6af09c88c6e3;

}  // namespace

RegressionTask::RegressionTask(std::uint64_t seed)
    : seed_(seed), shape_{.layers = {8, 6, 5, 1}, .slopes = {0.4, 0.8}, .activation_prior = {}} {
  boost::random::mt19937_64 random(seed ^ kWeights);
  boost::random::normal_distribution<double> normal;
  const auto priors = draw_prior(shape_, 1, 1, seed ^ kMeans);
  for (std::size_t l = 0; l < priors.size(); ++l) {
    Eigen::MatrixXd weights(shape_.layers[l + 1], shape_.layers[l]);
    for (Eigen::Index i = 0; i < weights.size(); ++i) {
      const auto k = static_cast<std::size_t>(i);
      weights(i / weights.cols(), i % weights.cols()) =
          priors[l].mean[k] + std::sqrt(priors[l].variance[k]) * normal(random);
    }
    weights_.push_back(std::move(weights));
  }
}

Eigen::VectorXd RegressionTask::truth(const Eigen::VectorXd& x) const {
  Eigen::MatrixXd activation = FeatureMap(kFeatureMap).apply(x).transpose();
  for (std::size_t l = 0; l < weights_.size(); ++l) {
    activation = (weights_[l] * activation).eval();
    if (l + 1 < weights_.size()) activation = activation.cwiseMax(0) + shape_.slopes[l] * activation.cwiseMin(0);
  }
  return activation.row(0);
}

RegressionTask::Sample RegressionTask::sample(Eigen::Index rows) const {
  boost::random::mt19937_64 random(seed_ ^ kRows);
  boost::random::uniform_real_distribution<double> uniform(kLow, kHigh);
  boost::random::normal_distribution<double> normal(0, kNoise);
  Sample s{Eigen::VectorXd(rows), Eigen::VectorXd(rows)};
  for (double& x : s.x) x = uniform(random);
  s.y = truth(s.x);
  for (double& y : s.y) y += normal(random);
  return s;
}

}  // namespace dma
