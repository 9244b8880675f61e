#include "tools/bench/plain_network.h"

#include <algorithm>
#include <cmath>

#include "factors/arithmetic/leaky_relu.h"
#include "tools/bench/mean_log_density.h"

namespace dma::bench {

namespace {

// s = m^2 / (m^2 + v), 0 for m = v = 0.
double signal(double mean, double variance) {
  const double square = mean * mean;
  return square > 0 ? square / (square + variance) : 0.0;
}

}  // namespace

PlainNetwork::PlainNetwork(const std::vector<std::size_t>& widths, const std::vector<double>& slopes,
                           const std::vector<LayerPrior>& priors, double noise_variance, std::size_t batches, std::size_t rows)
    : slopes_(slopes), noise_variance_(noise_variance), batches_(batches), rows_(rows) {
  std::size_t weights = 0;
  for (std::size_t l = 0; l + 1 < widths.size(); ++l) {
    const std::size_t outputs = widths[l + 1], inputs = widths[l], count = outputs * inputs;
    Layer layer{outputs, inputs, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}};
    for (auto* array : {&layer.tau, &layer.rho, &layer.mean, &layer.variance}) array->resize(count);
    for (auto* array : {&layer.in_mean, &layer.in_variance, &layer.in_gain, &layer.in_weight, &layer.in_rest,
                        &layer.to_in_tau, &layer.to_in_rho})
      array->resize(inputs);
    for (auto* array : {&layer.sum_mean, &layer.sum_variance, &layer.back_mean, &layer.back_variance}) array->resize(outputs);
    for (std::size_t k = 0; k < count; ++k) {
      layer.rho[k] = 1 / priors[l].variance[k];
      layer.tau[k] = priors[l].mean[k] * layer.rho[k];
    }
    weights += count;
    layers_.push_back(std::move(layer));
  }
  stored_tau_.assign(batches, std::vector<double>(weights));
  stored_rho_ = stored_tau_;
  cavity_tau_.resize(weights);
  cavity_rho_.resize(weights);
}

void PlainNetwork::forward(const double* input) {
  std::copy_n(input, layers_[0].columns, layers_[0].in_mean.begin());
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    Layer& layer = layers_[l];
    const double *const m = layer.in_mean.data(), *const v = layer.in_variance.data();
    for (std::size_t i = 0; i < layer.rows; ++i) {
      double* const w_mean = layer.mean.data() + i * layer.columns;
      double* const w_variance = layer.variance.data() + i * layer.columns;
      const double *const tau = layer.tau.data() + i * layer.columns, *const rho = layer.rho.data() + i * layer.columns;
      double mean = 0, variance = 0;
      for (std::size_t j = 0; j < layer.columns; ++j) {
        w_variance[j] = 1 / rho[j];
        w_mean[j] = tau[j] * w_variance[j];
        mean += w_mean[j] * m[j];
        variance += (w_variance[j] + w_mean[j] * w_mean[j]) * v[j] + m[j] * m[j] * w_variance[j];
      }
      layer.sum_mean[i] = mean;
      layer.sum_variance[i] = variance;
      if (l + 1 == layers_.size()) continue;
      const Gaussian out = LeakyRelu::to_y(Gaussian::from_moments(mean, variance), {slopes_[l]});
      layers_[l + 1].in_variance[i] = out.variance();
      layers_[l + 1].in_mean[i] = out.tau * layers_[l + 1].in_variance[i];
    }
  }
}

// Prop. 3.2 for a row of weights and the activations it meets: see factors/arithmetic/inner_product.h.
void PlainNetwork::backward_row(Layer& layer, std::size_t i, bool first_layer) {
  const std::size_t first = i * layer.columns;
  const double *const w_mean = layer.mean.data() + first, *const w_variance = layer.variance.data() + first;
  const double *const m = layer.in_mean.data(), *const v = layer.in_variance.data();
  double *const tau = layer.tau.data() + first, *const rho = layer.rho.data() + first;
  double *const to_in_tau = layer.to_in_tau.data(), *const to_in_rho = layer.to_in_rho.data();
  const double rest_mean = layer.back_mean[i] - layer.sum_mean[i], rest_variance = layer.back_variance[i] + layer.sum_variance[i];
  for (std::size_t j = 0; j < layer.columns; ++j) {
    const double c = rest_mean + w_mean[j] * m[j];
    const double k = rest_variance - ((w_variance[j] + w_mean[j] * w_mean[j]) * v[j] + m[j] * m[j] * w_variance[j]);
    const double weight = layer.in_weight[j] / (k + layer.in_rest[j] * c * c);
    tau[j] += weight * c;
    rho[j] += weight * layer.in_gain[j];
    if (first_layer) continue;
    const double square = w_mean[j] * w_mean[j], s = square / (square + w_variance[j]);
    const double gain = s * w_mean[j], to_in = s * gain / (k + (1 - s) * c * c);
    to_in_tau[j] += to_in * c;
    to_in_rho[j] += to_in * gain;
  }
}

void PlainNetwork::backward(const double* target) {
  for (std::size_t i = 0; i < layers_.back().rows; ++i) {
    layers_.back().back_mean[i] = target[i];
    layers_.back().back_variance[i] = noise_variance_;
  }
  for (std::size_t l = layers_.size(); l-- > 0;) {
    Layer& layer = layers_[l];
    for (std::size_t j = 0; j < layer.columns; ++j) {
      const double s = signal(layer.in_mean[j], layer.in_variance[j]);
      layer.in_gain[j] = s * layer.in_mean[j];
      layer.in_weight[j] = s * layer.in_gain[j];
      layer.in_rest[j] = 1 - s;
      layer.to_in_tau[j] = layer.to_in_rho[j] = 0;
    }
    for (std::size_t i = 0; i < layer.rows; ++i) backward_row(layer, i, l == 0);
    if (l == 0) return;
    for (std::size_t j = 0; j < layer.columns; ++j) {
      const Gaussian back = LeakyRelu::to_x({layer.to_in_tau[j], layer.to_in_rho[j]}, {slopes_[l - 1]});
      layers_[l - 1].back_variance[j] = back.variance();
      layers_[l - 1].back_mean[j] = back.tau * layers_[l - 1].back_variance[j];
    }
  }
}

void PlainNetwork::epoch(const std::vector<double>& inputs, const std::vector<double>& targets) {
  const std::size_t in = layers_.front().columns, out = layers_.back().rows;
  for (std::size_t b = 0; b < batches_; ++b) {
    std::size_t k = 0;
    for (Layer& layer : layers_)
      for (std::size_t i = 0; i < layer.tau.size(); ++i, ++k) {
        cavity_tau_[k] = layer.tau[i] -= stored_tau_[b][k];
        cavity_rho_[k] = layer.rho[i] -= stored_rho_[b][k];
      }
    for (std::size_t n = b * rows_ / batches_; n < (b + 1) * rows_ / batches_; ++n) {
      forward(inputs.data() + n * in);
      backward(targets.data() + n * out);
    }
    k = 0;
    for (Layer& layer : layers_)
      for (std::size_t i = 0; i < layer.tau.size(); ++i, ++k) {
        stored_tau_[b][k] = layer.tau[i] - cavity_tau_[k];
        stored_rho_[b][k] = layer.rho[i] - cavity_rho_[k];
      }
  }
}

double PlainNetwork::log_likelihood(const std::vector<double>& inputs, const std::vector<double>& targets) {
  return mean_log_density(layers_, noise_variance_, inputs, targets, [this](const double* input) { forward(input); });
}

}  // namespace dma::bench
