// Mixtures, such as the cases of gates: the messages and Gaussians that stand for them.
#pragma once

#include <Eigen/Core>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "engine/messages/family.h"
#include "engine/support/dense.h"
#include "engine/support/log_sum_exp.h"

namespace dma {

constexpr double kMostCases = 1024;  // combinations of values of all variables that choose factors

// Writes the message of a mixture of messages with these weights, all above 0: exact for discrete families, of the same
// mean and variance for others, uniform if one is. False if the family has no message with given moments.
bool mix(const Family& family, std::span<const double> weights, std::span<const Components> parts, Natural* out);

// The Gaussian with the weight, mean and covariance of the mixture first, first + stride, ... A part has a log_weight,
// a mean and a covariance.
template <class Part>
Part merge(std::span<const Part> parts, std::size_t first = 0, std::size_t stride = 1) {
  std::vector<double> logs;
  for (std::size_t i = first; i < parts.size(); i += stride) logs.push_back(parts[i].log_weight);
  Part out = parts[first];
  out.log_weight = log_sum_exp(logs);
  if (logs.size() == 1 || !std::isfinite(out.log_weight)) return out;
  out.mean.setZero(), out.covariance.setZero();
  const auto fraction = [&](const Part& part) { return std::exp(part.log_weight - out.log_weight); };
  for (std::size_t i = first; i < parts.size(); i += stride) out.mean += fraction(parts[i]) * parts[i].mean;
  for (std::size_t i = first; i < parts.size(); i += stride) {
    const Eigen::MatrixXd apart = parts[i].mean - out.mean;
    out.covariance += fraction(parts[i]) * (parts[i].covariance + product_by_transposed(apart, apart));
  }
  return out;
}

}  // namespace dma
