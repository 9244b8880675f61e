// The paper's Algorithm 1 (App. D) for a network without biases, as fast as we can write it by hand. Beside
// tests/oracles/algorithm1.h, which follows the formulas:
//
//   - inside a mini-batch a weight is its mean and its variance; natural parameters appear where it begins and ends;
//   - the messages to a weight and from it to its input share one division;
//   - rectifiers are computed for a whole layer at once.
#pragma once

#include <cstddef>
#include <vector>

#include "models/network/network_graph.h"

namespace dma::bench {

class HandNetwork {
 public:
  HandNetwork(const std::vector<std::size_t>& widths, const std::vector<double>& slopes,
              const std::vector<LayerPrior>& priors, double noise_variance, std::size_t batches, std::size_t rows);

  // Inputs and targets row by row.
  void epoch(const std::vector<double>& inputs, const std::vector<double>& targets);
  // Mean log predictive density, as the learner reports it after every epoch.
  double log_likelihood(const std::vector<double>& inputs, const std::vector<double>& targets);

  struct Layer {
    std::size_t rows = 0, columns = 0;
    std::vector<double> mean, variance;            // weights, row by row
    std::vector<double> in_mean, in_variance;      // activations
    std::vector<double> sum_mean, sum_variance;    // pre-activations
    std::vector<double> back_mean, back_variance;  // messages from above to the pre-activations
    std::vector<double> tau_gain, rho_gain, rest;  // s^2 m, s^3 m^2 and 1 - s of the activations, s = m^2 / (m^2 + v)
    std::vector<double> to_in_tau, to_in_rho;
  };
  const std::vector<Layer>& layers() const { return layers_; }

 private:
  void forward(const double* input);
  void backward(const double* target);
  void rectify(std::size_t layer);       // activations of the layer above from pre-activations
  void rectify_back(std::size_t layer);  // the message to its pre-activations from that to the activations above
  static void learn_from_known(Layer& layer, std::size_t row);
  static void learn_row(Layer& layer, std::size_t row);

  std::vector<Layer> layers_;
  std::vector<double> slopes_;
  double noise_variance_;
  std::size_t batches_, rows_;
  std::vector<std::vector<double>> stored_tau_, stored_rho_;  // batch -> weights of all layers
  std::vector<double> cavity_tau_, cavity_rho_;
  std::vector<double> tau_, rho_, new_tau_, new_rho_;  // messages at the units of one layer
};

}  // namespace dma::bench
