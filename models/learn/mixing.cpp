#include "models/learn/mixing.h"

#include <algorithm>
#include <cmath>

#include "engine/learn/gaussian/mixture.h"

namespace dma {

void add_component(PredictionComponent own, std::vector<PredictionComponent>& all) {
  for (PredictionComponent& other : all) other.weight.array() *= 1 - own.weight.array();
  all.push_back(std::move(own));
}

Matrix log_densities(const std::vector<PredictionComponent>& components, const Matrix& targets) {
  constexpr Index kRows = 1 << 14;
  Matrix all(targets.rows(), targets.cols());
  for (Index begin = 0; begin < targets.rows(); begin += kRows) {
    const Index rows = std::min(kRows, targets.rows() - begin);
    all.middleRows(begin, rows) =
        Prediction::mix(rows_of(components, begin, rows)).log_density(targets.middleRows(begin, rows));
  }
  return all;
}

Eigen::MatrixXd one_column_per_class(const Eigen::MatrixXd& numbers, std::size_t classes) {
  Eigen::MatrixXd all = Eigen::MatrixXd::Zero(numbers.rows(), static_cast<Index>(classes) - 1);
  for (Index n = 0; n < numbers.rows(); ++n)
    if (const auto c = static_cast<Index>(numbers(n, 0)); c > 0) all(n, c - 1) = 1;
  return all;
}

PredictionComponent component_of_classes(const Eigen::MatrixXd& probabilities, double weight,
                                         const OutputLikelihoods& likelihoods) {
  PredictionComponent own;
  own.mean = likelihoods.size() == 1 ? Eigen::MatrixXd(probabilities.col(1)) : probabilities;
  own.epistemic_sd = Matrix::Zero(own.mean.rows(), own.mean.cols());
  own.noise_sd = (own.mean.array() * (1 - own.mean.array())).cwiseMax(0).sqrt();
  own.weight = Matrix::Constant(own.mean.rows(), own.mean.cols(), weight);
  own.tails.resize(static_cast<std::size_t>(own.mean.cols()));
  own.likelihoods = likelihoods;
  return own;
}

Eigen::MatrixXd probabilities_of(const Eigen::MatrixXd& means, std::size_t classes) {
  if (means.cols() == static_cast<Index>(classes)) return means;
  Eigen::MatrixXd both(means.rows(), 2);
  both << (1 - means.array()).matrix(), means;
  return both;
}

ClassFrequencies::ClassFrequencies(const Eigen::VectorXd& numbers, std::size_t count, const Eigen::VectorXd& weights) {
  constexpr double kHalf = 0.5;
  Eigen::VectorXd counts = Eigen::VectorXd::Constant(static_cast<Index>(count), kHalf);
  for (Index n = 0; n < numbers.size(); ++n) {
    classes.push_back(static_cast<Index>(numbers(n)));
    counts(classes.back()) += weight_of(weights, n);
  }
  all = counts / counts.sum();
  without_each.resize(numbers.size(), counts.size());
  for (Index n = 0; n < numbers.size(); ++n) {
    const Index own = classes[static_cast<std::size_t>(n)];
    Eigen::VectorXd others = counts;
    others(own) = std::max(kHalf, others(own) - weight_of(weights, n));  // less by rounding alone
    without_each.row(n) = (others / others.sum()).transpose();
    log_density += weight_of(weights, n) * std::log(without_each(n, own));
  }
  scores = class_scores_of(all.transpose().replicate(numbers.size(), 1), classes, weights);
  scores.log_loss = -log_density / total_weight(numbers.size(), weights);
}

double ClassFrequencies::fraction_beside(double other, double rows) const {
  constexpr double kLeast = 0.1;  // over the number of rows
  return std::max(1 - fraction_of_model(other - log_density), kLeast / (kLeast + rows));
}

void report_classes_left_out(const std::vector<PredictionComponent>& left_out, const Eigen::VectorXd& numbers,
                             const Eigen::VectorXd& weights, TableReport& report) {
  std::vector<Index> classes;
  for (const double number : numbers) classes.push_back(static_cast<Index>(number));
  const Eigen::MatrixXd p = Prediction::mix(left_out).mean;
  report.left_out_classes = class_scores_of(p.cols() == 1 ? probabilities_of(p, 2) : p, classes, weights);
}

}  // namespace dma
