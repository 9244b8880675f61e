// The paper's Algorithm 1 (App. D) as plain nested loops over its own formulas, without any engine code.
#pragma once

#include <vector>

namespace dma::oracle {

struct MeanVariance {
  double mean, variance;
};

class Algorithm1 {
 public:
  // Widths, slopes of the hidden layers, prior mean and variance of every weight [layer][i * fan_in + j], noise
  // variance.
  Algorithm1(std::vector<int> widths, std::vector<double> slopes, std::vector<std::vector<double>> prior_mean,
             std::vector<std::vector<double>> prior_variance, double noise_variance, int batches);

  void epoch(const std::vector<std::vector<double>>& inputs, const std::vector<std::vector<double>>& targets);
  std::vector<MeanVariance> predict(const std::vector<double>& input) const;  // without noise

  std::vector<std::vector<double>> tau, rho;  // beliefs, [layer][i * fan_in + j]

 private:
  struct Forward {
    std::vector<std::vector<MeanVariance>> activation, sum;  // [layer][unit]
    std::vector<std::vector<MeanVariance>> product;          // [layer][i * fan_in + j]
  };
  Forward forward(const std::vector<double>& input) const;
  void learn(const std::vector<double>& input, const std::vector<double>& target);

  std::vector<int> widths_;
  std::vector<double> slopes_;
  double noise_variance_;
  int batches_;
  std::vector<std::vector<std::vector<double>>> stored_tau_, stored_rho_;  // [batch][layer][weight]
};

}  // namespace dma::oracle
