#include "models/learn/counts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/learn/gaussian/program/output_likelihood.h"
#include "engine/learn/gaussian/program/row_model.h"
#include "engine/support/fields.h"
#include "engine/support/log_sum_exp.h"
#include "engine/support/maximise.h"
#include "factors/likelihoods/counts.h"
#include "factors/standard_registry.h"

namespace dma {

std::vector<CountNoise> CountNoise::poisson(const Eigen::MatrixXd& targets, const Eigen::VectorXd& weights) {
  std::vector<CountNoise> all;
  for (Eigen::Index j = 0; j < targets.cols(); ++j)
    all.push_back({.exposure = weighted_sum(targets.col(j), weights) / total_weight(targets.rows(), weights)});
  return all;
}

std::vector<double> CountNoise::parameters() const {
  return shape > 0 ? std::vector{shape, exposure} : std::vector{exposure};
}

std::string CountNoise::text() const {
  return shape > 0 ? fmt::format("negative binomial with shape {:.3g}", shape) : "Poisson";
}

void list_fields(Fields& f, CountNoise& value) { DMA_LIST(exposure, shape); }

bool may_count(const Eigen::MatrixXd& targets, const Eigen::MatrixXd& residuals, const Eigen::VectorXd& weights) {
  constexpr double kMost = 1e6, kLeastDispersion = 0.5;
  if (!(targets.array() >= 0).all() || !(targets.array() == targets.array().floor()).all()) return false;
  const double total = total_weight(targets.rows(), weights);
  for (Eigen::Index j = 0; j < targets.cols(); ++j) {
    const double most = targets.col(j).maxCoeff(), mean = weighted_sum(targets.col(j), weights) / total;
    if (!(most > 1 && most <= kMost) ||
        weighted_sum(residuals.col(j).cwiseAbs2(), weights) / total < kLeastDispersion * mean)
      return false;
  }
  return true;
}

GraphFamily with_counts(GraphFamily family, const std::vector<CountNoise>& noise) {
  OutputLikelihoods likelihoods;
  for (const CountNoise& own : noise)
    likelihoods.push_back(std::make_shared<const OutputLikelihood>(
        own.shape > 0 ? negative_binomial_kind() : poisson_kind(), own.parameters(), "y"));
  const auto counted = [likelihoods](SharedModel model) {
    model.likelihoods = likelihoods;
    return model;
  };
  family.model = [counted, before = std::move(family.model)](const GraphChoice& choice) {
    return counted(before(choice));
  };
  if (family.simple)
    family.simple = [counted, before = std::move(family.simple)](const Vector& relevance) {
      return counted(before(relevance));
    };
  return family;
}

double likeliest_shape(const std::vector<PredictionComponent>& components, const Eigen::MatrixXd& targets,
                       Eigen::Index output, double exposure, const Eigen::VectorXd& weights) {
  constexpr double kLeast = 0.02, kMost = 1e4, kLeastGain = 4;
  constexpr int kReach = 3, kBits = 20;  // points in standard deviations of the output
  std::vector<double> logs;
  const auto log_probability = [&](const auto& log_density) {
    double sum = 0;
    for (Eigen::Index n = 0; n < targets.rows(); ++n) {
      logs.clear();
      for (const PredictionComponent& c : components) {
        const double share = c.weight.size() > 0 ? c.weight(n, output) : 1 / static_cast<double>(components.size());
        for (int t = -kReach; t <= kReach && share > 0; ++t)
          logs.push_back(std::log(share) - 0.5 * t * t +
                         log_density(c.mean(n, output) + t * c.epistemic_sd(n, output), targets(n, output)));
      }
      sum += weight_of(weights, n) * log_sum_exp(logs);
    }
    return sum;
  };
  const auto cost = [&](double log_shape) {
    const double parameters[] = {std::exp(log_shape), exposure};
    return -log_probability([&](double x, double y) { return NegativeBinomial::log_density(x, y, parameters); });
  };
  const Minimum found = minimise(cost, std::log(kLeast), std::log(kMost), kBits);
  const double poisson = log_probability([&](double x, double y) {
    return Poisson::log_density(x, y, {&exposure, 1});
  });
  return -found.value > poisson + kLeastGain ? std::exp(found.at) : 0;
}

Eigen::VectorXd log_mass_of_counts(const Prediction& prediction, const Eigen::MatrixXd& targets) {
  const Eigen::MatrixXd density = prediction.log_density(targets);
  if (!prediction.components.at(0).likelihoods.empty()) return density.rowwise().sum();
  constexpr double kRounding = 1e-9;  // a difference of less has few digits; the density is nearly even there
  const Eigen::ArrayXXd mass =
      prediction.cumulative(targets.array() + 0.5).array() - prediction.cumulative(targets.array() - 0.5).array();
  return (mass > kRounding).select(mass.max(kRounding).log(), density.array()).matrix().rowwise().sum();
}

}  // namespace dma
