// The paper's Algorithm 1 (App. D) for a network without biases, as one would write it for speed and nothing else: flat
// arrays, no graph, the forward and backward pass of an example fused into the update of the beliefs.
#pragma once

#include <cstddef>
#include <vector>

#include "models/network/bnn_graph.h"

namespace dma::bench {

class PlainNetwork {
 public:
  PlainNetwork(const std::vector<std::size_t>& widths, const std::vector<double>& slopes,
               const std::vector<LayerPrior>& priors, double noise_variance, std::size_t batches, std::size_t rows);

  // Inputs and targets row by row.
  void epoch(const std::vector<double>& inputs, const std::vector<double>& targets);
  // Mean log predictive density, as the learner reports it after every epoch.
  double log_likelihood(const std::vector<double>& inputs, const std::vector<double>& targets);

  struct Layer {
    std::size_t rows, columns;
    std::vector<double> tau, rho;                           // beliefs of the weights, row by row
    std::vector<double> mean, variance;                     // of the same, for the example at hand
    std::vector<double> in_mean, in_variance;               // activations
    std::vector<double> sum_mean, sum_variance;             // pre-activations
    std::vector<double> back_mean, back_variance;           // messages from above to the pre-activations
    std::vector<double> in_gain, in_weight, in_rest;        // s m, s^2 m and 1 - s of the activations
    std::vector<double> to_in_tau, to_in_rho;
  };
  const std::vector<Layer>& layers() const { return layers_; }

 private:
  void forward(const double* input);
  void backward(const double* target);
  void backward_row(Layer& layer, std::size_t i, bool first_layer);

  std::vector<Layer> layers_;
  std::vector<double> slopes_;
  double noise_variance_;
  std::size_t batches_, rows_;
  std::vector<std::vector<double>> stored_tau_, stored_rho_;  // batch -> weights of all layers
  std::vector<double> cavity_tau_, cavity_rho_;
};

}  // namespace dma::bench
