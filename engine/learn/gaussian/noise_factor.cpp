// Factors on the noise of a mixture.
#include <cmath>

#include "engine/learn/gaussian/prediction.h"
#include "engine/learn/gaussian/program/row_model.h"
#include "engine/support/maximise.h"

namespace dma {

namespace {

Prediction with_noise_times(std::vector<PredictionComponent> components, double factor, Eigen::Index output) {
  for (PredictionComponent& own : components) own.tails.at(static_cast<std::size_t>(output)).scale *= factor;
  return Prediction::mix(std::move(components));
}

}  // namespace

double likeliest_factor(const std::vector<PredictionComponent>& components, const Eigen::MatrixXd& targets,
                        Eigen::Index output, const Eigen::VectorXd& weights, double least_noise) {
  constexpr double kDoubtingRows = 100;
  constexpr Eigen::Index kEnoughRows = 4000;  // to tell the sd of noise to 1 %
  if (targets.rows() > kEnoughRows) {
    std::vector<Eigen::Index> some;
    for (Eigen::Index i = 0; i < kEnoughRows; ++i) some.push_back(i * targets.rows() / kEnoughRows);
    return likeliest_factor(rows_of(components, some), targets(some, Eigen::all), output, weights_of(weights, some),
                            least_noise);
  }
  constexpr double kLeast = 0.01, kMost = 1e4;
  constexpr int kBits = 10;  // bits of the logarithm
  const auto loss = [&](double log_factor) {
    return -weighted_sum(with_noise_times(components, std::exp(log_factor), output).log_density(targets).col(output),
                         weights);
  };
  double narrowest = kLeast;
  for (const PredictionComponent& own : components) {
    const double noise = own.noise_sd.col(output).minCoeff();
    narrowest = std::max(narrowest, least_noise / (noise * noise * own.tails[static_cast<std::size_t>(output)].scale));
  }
  const auto [best, least] = minimise(loss, std::log(std::min(narrowest, 1.0)), std::log(kMost), kBits);
  if (!(least < loss(0))) return 1;
  const double rows = total_weight(targets.rows(), weights);
  return std::exp(best < 0 ? best * rows / (rows + kDoubtingRows) : best);
}

double covering_factor(const std::vector<PredictionComponent>& components, const Eigen::MatrixXd& targets,
                       Eigen::Index output, const Eigen::VectorXd& weights) {
  constexpr double kLevel = 0.95, kEnough = 0.945, kWidest = 100;
  constexpr int kSteps = 12;
  constexpr Eigen::Index kEnoughRows = 20000;  // to tell such a fraction
  const Eigen::Index rows = std::min(targets.rows(), kEnoughRows);
  const std::vector<PredictionComponent> some = rows_of(components, 0, rows);
  const Eigen::MatrixXd observed = targets.topRows(rows);
  const Eigen::VectorXd counts = weights.head(std::min(weights.size(), rows));
  const double all = total_weight(rows, counts);
  const auto coverage = [&](double factor) {
    const Eigen::ArrayXd below = with_noise_times(some, factor, output).cumulative(observed).col(output);
    return weighted_sum((below >= (1 - kLevel) / 2 && below <= (1 + kLevel) / 2).cast<double>(), counts) / all;
  };
  if (coverage(1) >= kEnough) return 1;
  double low = 0, high = std::log(kWidest);
  for (int step = 0; step < kSteps; ++step) {
    const double middle = 0.5 * (low + high);
    (coverage(std::exp(middle)) < kEnough ? low : high) = middle;
  }
  return std::exp(high);
}

}  // namespace dma
