// A Gaussian as a list of rows sum_i c_i x_i = b + N(0, variance), solved densely: the textbook's normal equations.
#pragma once

#include <Eigen/Dense>
#include <numbers>
#include <utility>
#include <vector>

namespace dma::oracle {

class DenseRows {
 public:
  explicit DenseRows(Eigen::Index unknowns)
      : information_(Eigen::MatrixXd::Zero(unknowns, unknowns)), pull_(Eigen::VectorXd::Zero(unknowns)) {}

  void add(const std::vector<std::pair<Eigen::Index, double>>& terms, double b, double variance) {
    for (const auto& [i, ci] : terms) {
      pull_[i] += ci * b / variance;
      for (const auto& [j, cj] : terms) information_(i, j) += ci * cj / variance;
    }
    constants_ -= 0.5 * (b * b / variance + std::log(2 * std::numbers::pi * variance));
  }
  const Eigen::MatrixXd& information() const { return information_; }
  Eigen::MatrixXd covariance() const { return information_.inverse(); }
  Eigen::VectorXd mean() const { return information_.ldlt().solve(pull_); }
  // log of the integral of the product of all rows.
  double log_evidence() const {
    const Eigen::MatrixXd l = information_.llt().matrixL();
    return constants_ + 0.5 * pull_.dot(mean()) +
           0.5 * static_cast<double>(pull_.size()) * std::log(2 * std::numbers::pi) - l.diagonal().array().log().sum();
  }

 private:
  Eigen::MatrixXd information_;
  Eigen::VectorXd pull_;
  double constants_ = 0;
};

}  // namespace dma::oracle
