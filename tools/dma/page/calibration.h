// Compares stated probabilities with the frequencies of what happened.
#pragma once

#include <Eigen/Dense>
#include <span>
#include <vector>

namespace dma::report {

// A probability that was stated for `rows` rows, the fraction of them for which it came true, and where this fraction
// lies in 95 of 100 tables of so many rows if the statement is right (binomial).
struct StatedFraction {
  double stated = 0, found = 0, low = 0, high = 0;
  std::size_t rows = 0;
};

// The coverage of central intervals that should hold 5, 10, ..., 95 and 99 % of the observations. `below`: the
// predictive probability mass below every observation.
std::vector<StatedFraction> coverage_curve(const Eigen::VectorXd& below);
// The same for the quantiles that 5, 10, ..., 95 % of the observations should lie below.
std::vector<StatedFraction> quantile_curve(const Eigen::VectorXd& below);

// The rows of a classifier in ten bins by the probability of their most probable class, without empty bins; `stated` is
// its mean there, `found` the accuracy. The mean of |stated - found| over rows is ClassScores::calibration_error.
std::vector<StatedFraction> reliability_curve(const Eigen::MatrixXd& probabilities,
                                              std::span<const Eigen::Index> classes);

// Rows of every class (row) by the class that is most probable (column).
Eigen::MatrixX<Eigen::Index> confusion(const Eigen::MatrixXd& probabilities, std::span<const Eigen::Index> classes);

}  // namespace dma::report
