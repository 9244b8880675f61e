// A Gaussian as a list of rows sum_i c_i x_i = b + N(0, variance), solved densely: the textbook's normal equations.
#pragma once

#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "tests/oracles/plain_matrix.h"

namespace dma::oracle {

class DenseRows {
 public:
  explicit DenseRows(Eigen::Index unknowns) : information_(unknowns, unknowns), pull_(unknowns, 1) {}

  void add(const std::vector<std::pair<Eigen::Index, double>>& terms, double b, double variance) {
    for (const auto& [i, ci] : terms) {
      pull_[i] += ci * b / variance;
      for (const auto& [j, cj] : terms) information_(i, j) += ci * cj / variance;
    }
    constants_ -= 0.5 * (b * b / variance + std::log(2 * std::numbers::pi * variance));
  }
  Eigen::MatrixXd covariance() const { return information_.inverse().matrix(); }
  Eigen::VectorXd mean() const { return information_.solve(pull_).vector(); }
  // log of the integral of the product of all rows.
  double log_evidence() const {
    return constants_ + 0.5 * dot(pull_, information_.solve(pull_)) - 0.5 * information_.log_determinant() +
           0.5 * static_cast<double>(pull_.rows()) * std::log(2 * std::numbers::pi);
  }

 private:
  PlainMatrix information_, pull_;
  double constants_ = 0;
};

}  // namespace dma::oracle
