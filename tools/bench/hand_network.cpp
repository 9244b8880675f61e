#include "tools/bench/hand_network.h"

#include <algorithm>

#include "engine/messages/gaussian.h"
#include "engine/support/independent.h"
#include "engine/support/pair.h"
#include "factors/arithmetic/leaky_relu.h"

namespace dma::bench {

namespace {

struct ProductSum {
  double mean, variance;
};

// Several sums at a time: additions wait for each other. Known inputs have v = 0, which is not read.
template <bool kKnown>
ProductSum sum_of_products(const double* w_mean, const double* w_variance, const double* m, const double* v,
                           std::size_t count) {
  Pair mean[2] = {}, variance[2] = {};
  ProductSum last{0, 0};
  const auto add = [](const auto& wm, const auto& wv, const auto& x, const auto& xv, auto& to_mean, auto& to_variance) {
    to_mean += wm * x;
    if constexpr (!kKnown) to_variance += (wv + wm * wm) * xv;
    to_variance += x * x * wv;
  };
  std::size_t j = 0;
  for (; j + 4 <= count; j += 4)
    for (std::size_t s = 0; s < 2; ++s)
      add(load_pair(w_mean + j + 2 * s), load_pair(w_variance + j + 2 * s), load_pair(m + j + 2 * s),
          load_pair(v + j + 2 * s), mean[s], variance[s]);
  for (; j < count; ++j) add(w_mean[j], w_variance[j], m[j], v[j], last.mean, last.variance);
  return {last.mean + total(mean[0] + mean[1]), last.variance + total(variance[0] + variance[1])};
}

}  // namespace

HandNetwork::HandNetwork(const std::vector<std::size_t>& widths, const std::vector<double>& slopes,
                         const std::vector<LayerPrior>& priors, double noise_variance, std::size_t batches,
                         std::size_t rows)
    : slopes_(slopes), noise_variance_(noise_variance), batches_(batches), rows_(rows) {
  std::size_t weights = 0;
  for (std::size_t l = 0; l + 1 < widths.size(); ++l) {
    Layer layer;
    layer.rows = widths[l + 1], layer.columns = widths[l];
    layer.mean = priors[l].mean, layer.variance = priors[l].variance;
    for (auto* array : {&layer.in_mean, &layer.in_variance, &layer.tau_gain, &layer.rho_gain, &layer.rest,
                        &layer.to_in_tau, &layer.to_in_rho})
      array->resize(layer.columns);
    for (auto* array : {&layer.sum_mean, &layer.sum_variance, &layer.back_mean, &layer.back_variance})
      array->resize(layer.rows);
    weights += layer.rows * layer.columns;
    layers_.push_back(std::move(layer));
  }
  stored_tau_.assign(batches, std::vector<double>(weights));
  stored_rho_ = stored_tau_;
  cavity_tau_.resize(weights);
  cavity_rho_.resize(weights);
  for (auto* array : {&tau_, &rho_, &new_tau_, &new_rho_}) array->resize(std::ranges::max(widths));
}

void HandNetwork::rectify(std::size_t l) {
  Layer &layer = layers_[l], &above = layers_[l + 1];
  for (std::size_t i = 0; i < layer.rows; ++i) {
    rho_[i] = 1 / layer.sum_variance[i];
    tau_[i] = layer.sum_mean[i] * rho_[i];
  }
  LeakyRelu::many_to_y(tau_.data(), rho_.data(), layer.rows, slopes_[l], new_tau_.data(), new_rho_.data());
  for (std::size_t i = 0; i < layer.rows; ++i) {
    above.in_variance[i] = 1 / new_rho_[i];
    above.in_mean[i] = new_tau_[i] * above.in_variance[i];
  }
}

void HandNetwork::rectify_back(std::size_t l) {
  Layer &layer = layers_[l], &above = layers_[l + 1];
  LeakyRelu::many_to_x(above.to_in_tau.data(), above.to_in_rho.data(), layer.rows, slopes_[l], new_tau_.data(),
                       new_rho_.data());
  for (std::size_t i = 0; i < layer.rows; ++i) {
    layer.back_variance[i] = 1 / new_rho_[i];
    layer.back_mean[i] = new_tau_[i] * layer.back_variance[i];
  }
}

void HandNetwork::forward(const double* input) {
  std::copy_n(input, layers_[0].columns, layers_[0].in_mean.begin());
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    Layer& layer = layers_[l];
    for (std::size_t i = 0; i < layer.rows; ++i) {
      const auto sum_of = l == 0 ? &sum_of_products<true> : &sum_of_products<false>;
      const ProductSum sum = sum_of(layer.mean.data() + i * layer.columns, layer.variance.data() + i * layer.columns,
                                    layer.in_mean.data(), layer.in_variance.data(), layer.columns);
      layer.sum_mean[i] = sum.mean;
      layer.sum_variance[i] = sum.variance;
    }
    if (l + 1 < layers_.size()) rectify(l);
  }
}

// Inputs that are known: Prop. 3.2 with s = 1 is a Kalman step for all weights but this one held at their beliefs, and
// what all of them divide by is one number.
void HandNetwork::learn_from_known(Layer& layer, std::size_t i) {
  double *const w_mean = layer.mean.data() + i * layer.columns, *const w_variance =
                                                                    layer.variance.data() + i * layer.columns;
  const double* const m = layer.in_mean.data();
  const double rest_mean = layer.back_mean[i] - layer.sum_mean[i],
               rest_variance = layer.back_variance[i] + layer.sum_variance[i];
  const double inverse = 1 / rest_variance, scaled_mean = rest_mean * inverse;
  DMA_INDEPENDENT
  for (std::size_t j = 0; j < layer.columns; ++j) {
    const double gain = w_variance[j] * m[j];
    w_mean[j] += gain * scaled_mean;
    w_variance[j] *= (rest_variance - gain * m[j]) * inverse;
  }
}

// The product of weight w and input x has the cavity N(c, k). Prop. 3.2 adds tau_gain c / d and rho_gain / d to the
// natural parameters of the weight, d = k + rest c^2. In moments, with q = d + Var w rho_gain:
//
//   Var w <- Var w d / q        E w <- (E w d + Var w tau_gain c) / q
//
// Towards the input, s = w^2 / u with w = E w and u = w^2 + Var w makes, with e = k u + Var w c^2,
//
//   tau = w^5 c / (u e)         rho = w^8 / (u^2 e)
//
// and 1 / (q u e) gives all of these.
void HandNetwork::learn_row(Layer& layer, std::size_t i) {
  double *const w_mean = layer.mean.data() + i * layer.columns, *const w_variance =
                                                                    layer.variance.data() + i * layer.columns;
  const double *const m = layer.in_mean.data(), *const v = layer.in_variance.data();
  const double *const tau_gain = layer.tau_gain.data(), *const rho_gain = layer.rho_gain.data(),
                      *const rest = layer.rest.data();
  double *const to_in_tau = layer.to_in_tau.data(), *const to_in_rho = layer.to_in_rho.data();
  const double rest_mean = layer.back_mean[i] - layer.sum_mean[i],
               rest_variance = layer.back_variance[i] + layer.sum_variance[i];
  DMA_INDEPENDENT
  for (std::size_t j = 0; j < layer.columns; ++j) {
    const double w = w_mean[j], w_v = w_variance[j], square = w * w, u = square + w_v, cube = square * w;
    const double c = rest_mean + w * m[j], k = rest_variance - (u * v[j] + m[j] * m[j] * w_v);
    const double d = k + rest[j] * (c * c), q = d + w_v * rho_gain[j];
    const double e = k * u + w_v * (c * c), ue = u * e;
    const double r = 1 / (q * ue), by_q = r * ue, by_ue = r * q;
    const double to_in = cube * square * by_ue;
    to_in_tau[j] += to_in * c;
    to_in_rho[j] += to_in * cube * (by_ue * e);
    w_mean[j] = (w * d + w_v * (tau_gain[j] * c)) * by_q;
    w_variance[j] = w_v * d * by_q;
  }
}

void HandNetwork::backward(const double* target) {
  for (std::size_t i = 0; i < layers_.back().rows; ++i) {
    layers_.back().back_mean[i] = target[i];
    layers_.back().back_variance[i] = noise_variance_;
  }
  for (std::size_t l = layers_.size(); l-- > 1;) {
    Layer& layer = layers_[l];
    for (std::size_t j = 0; j < layer.columns; ++j) {
      const double m = layer.in_mean[j], v = layer.in_variance[j], s = m * m / (m * m + v);
      layer.tau_gain[j] = s * s * m;
      layer.rho_gain[j] = s * s * s * m * m;
      layer.rest[j] = 1 - s;
      layer.to_in_tau[j] = layer.to_in_rho[j] = 0;
    }
    for (std::size_t i = 0; i < layer.rows; ++i) learn_row(layer, i);
    rectify_back(l - 1);
  }
  for (std::size_t i = 0; i < layers_[0].rows; ++i) learn_from_known(layers_[0], i);
}

void HandNetwork::epoch(const std::vector<double>& inputs, const std::vector<double>& targets) {
  const std::size_t in = layers_.front().columns, out = layers_.back().rows;
  for (std::size_t b = 0; b < batches_; ++b) {
    std::size_t k = 0;
    for (Layer& layer : layers_)
      for (std::size_t i = 0; i < layer.mean.size(); ++i, ++k) {
        const double rho = 1 / layer.variance[i];
        cavity_rho_[k] = rho - stored_rho_[b][k];
        cavity_tau_[k] = layer.mean[i] * rho - stored_tau_[b][k];
        layer.variance[i] = 1 / cavity_rho_[k];
        layer.mean[i] = cavity_tau_[k] * layer.variance[i];
      }
    for (std::size_t n = b * rows_ / batches_; n < (b + 1) * rows_ / batches_; ++n) {
      forward(inputs.data() + n * in);
      backward(targets.data() + n * out);
    }
    k = 0;
    for (const Layer& layer : layers_)
      for (std::size_t i = 0; i < layer.mean.size(); ++i, ++k) {
        const double rho = 1 / layer.variance[i];
        stored_tau_[b][k] = layer.mean[i] * rho - cavity_tau_[k];
        stored_rho_[b][k] = rho - cavity_rho_[k];
      }
  }
}

double HandNetwork::log_likelihood(const std::vector<double>& inputs, const std::vector<double>& targets) {
  const std::size_t in = layers_.front().columns, out = layers_.back().rows;
  double sum = 0;
  for (std::size_t n = 0; n * out < targets.size(); ++n) {
    forward(inputs.data() + n * in);
    for (std::size_t i = 0; i < out; ++i) {
      const double variance = layers_.back().sum_variance[i] + noise_variance_;
      sum += log_density(Gaussian::from_moments(layers_.back().sum_mean[i], variance), targets[n * out + i]);
    }
  }
  return sum / static_cast<double>(targets.size());
}

}  // namespace dma::bench
