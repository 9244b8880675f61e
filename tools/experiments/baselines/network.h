// baselines/: the methods the paper compares with, written for clarity on Eigen and apart from the library but for its
// products of matrices. All of them see a network through this one definition and this one gradient.
//
// A feedforward network without biases (the features hold a constant): z_l = W_l a_(l-1), a_l = max(z_l, slope_l z_l),
// the last layer linear. Weights stand in one vector: layer after layer, every W_l row by row, as in Bnn::weights.
#pragma once

#include <Eigen/Dense>
#include <vector>

namespace dma::baselines {

struct Network {
  std::vector<std::size_t> layers;  // widths: features, hidden layers, outputs
  std::vector<double> slopes;       // in (0, 1], one per hidden layer

  Eigen::Index weights() const;
  // One row per example.
  Eigen::MatrixXd outputs(const Eigen::VectorXd& weights, const Eigen::MatrixXd& inputs) const;
};

// N(mean, 1/precision) for every weight on its own.
struct WeightPrior {
  Eigen::VectorXd mean, precision;

  // Precision 0: the likelihood alone counts.
  static WeightPrior none(const Network& network);
  // Mean 0 and variance scale / fan_in.
  static WeightPrior centred(const Network& network, double scale);
};

// E(w) = sum_n |f(x_n; w) - y_n|^2 / (2 noise^2) + sum_j precision_j (w_j - mean_j)^2 / 2: minus the log posterior but
// for a constant. Rows are taken in blocks that stay in the cache; about 6 flops per weight and example for value and
// gradient.
class Energy {
 public:
  Energy(Network network, Eigen::MatrixXd inputs, Eigen::MatrixXd targets, double noise, WeightPrior prior);

  // Value, and dE/dw. Almost everywhere: at a kink the derivative from the left.
  double gradient(const Eigen::VectorXd& weights, Eigen::VectorXd& gradient) const;
  // The same over rows [begin, begin + count) of the likelihood alone: a mini-batch.
  double likelihood_gradient(const Eigen::VectorXd& weights, Eigen::Index begin, Eigen::Index count,
                             Eigen::VectorXd& gradient) const;
  // d^2 E / dw_j^2. The output is piecewise linear in every single weight, so its own second derivative vanishes and
  // sum_n (df_n/dw_j)^2 / noise^2 + precision_j is the exact diagonal of the Hessian, not an approximation; it is never
  // negative and costs one backward pass per output.
  Eigen::VectorXd hessian_diagonal(const Eigen::VectorXd& weights) const;
  // Mean negative log density of the targets, per row and output, for the point prediction N(f, noise^2).
  double mean_nll(const Eigen::VectorXd& weights) const;

  const Network& network() const { return network_; }
  const WeightPrior& prior() const { return prior_; }
  Eigen::Index rows() const { return inputs_.rows(); }

 private:
  Network network_;
  Eigen::MatrixXd inputs_, targets_;
  double noise_;
  WeightPrior prior_;
};

}  // namespace dma::baselines
