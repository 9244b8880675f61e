#include "models/mixtures/weighted_gaussian.h"

#include <cmath>
#include <vector>

#include "engine/support/dense.h"
#include "engine/support/log_sum_exp.h"

namespace dma {

WeightedGaussian merge(std::span<const WeightedGaussian> parts, std::size_t first, std::size_t stride) {
  std::vector<double> logs;
  for (std::size_t i = first; i < parts.size(); i += stride) logs.push_back(parts[i].log_weight);
  WeightedGaussian out = parts[first];
  out.log_weight = log_sum_exp(logs);
  if (logs.size() == 1 || !std::isfinite(out.log_weight)) return out;
  out.mean.setZero(), out.covariance.setZero();
  const auto fraction = [&](const WeightedGaussian& part) { return std::exp(part.log_weight - out.log_weight); };
  for (std::size_t i = first; i < parts.size(); i += stride) out.mean += fraction(parts[i]) * parts[i].mean;
  for (std::size_t i = first; i < parts.size(); i += stride) {
    const Eigen::MatrixXd apart = parts[i].mean - out.mean;
    out.covariance += fraction(parts[i]) * (parts[i].covariance + product_by_transposed(apart, apart));
  }
  return out;
}

}  // namespace dma
