#include "tools/experiments/baselines/network.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "engine/support/dense.h"
#include "engine/support/error.h"

namespace dma::baselines {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// Examples that are taken through the network at once: columns of this length, for all layers, fit into the cache.
constexpr Index kBlock = 256;

// The layers of one weight vector, as matrices: W_l row by row is W_l^T column by column.
template <class Layer, class Number>
std::vector<Layer> transposed_layers(const Network& network, Number* at) {
  std::vector<Layer> all;
  for (std::size_t l = 0; l + 1 < network.layers.size(); ++l) {
    all.emplace_back(at, static_cast<Index>(network.layers[l]), static_cast<Index>(network.layers[l + 1]));
    at += all.back().size();
  }
  return all;
}

std::vector<Eigen::Map<MatrixXd>> gradient_layers(const Network& network, VectorXd& gradient) {
  gradient.setZero(network.weights());
  return transposed_layers<Eigen::Map<MatrixXd>>(network, gradient.data());
}

// Plain loops become whole vectors as Eigen's expressions do, and compile in less time.
void copy_rows(const MatrixXd& from, Index begin, Index count, MatrixXd& to, Index at) {
  for (Index j = 0; j < from.cols(); ++j) std::copy_n(&from(begin, j), count, &to(at, j));
}

void to_squares(const MatrixXd& m, MatrixXd& to) {
  to.resize(m.rows(), m.cols());
  const double* from = m.data();
  double* square = to.data();
  for (Index i = 0, size = m.size(); i < size; ++i) square[i] = from[i] * from[i];
}

void activate(double slope, const MatrixXd& z, MatrixXd& to) {
  to.resize(z.rows(), z.cols());
  const double* sum = z.data();
  double* activation = to.data();
  for (Index i = 0, size = z.size(); i < size; ++i) activation[i] = sum[i] > 0 ? sum[i] : slope * sum[i];
}

// Multiplies d by the derivative of the activation at z.
void through_activation(double slope, const MatrixXd& z, MatrixXd& d) {
  const double* sum = z.data();
  double* to = d.data();
  for (Index i = 0, size = z.size(); i < size; ++i) to[i] *= sum[i] > 0 ? 1.0 : slope;
}

// One block of examples, as rows, in every layer.
struct Pass {
  const Network& network;
  std::vector<Eigen::Map<const MatrixXd>> weights;  // transposed
  std::vector<MatrixXd> inputs, sums;               // by layer: its inputs, and their weighted sums

  Pass(const Network& net, const VectorXd& w) : network(net) {
    if (w.size() != net.weights()) fail("the network has {} weights, {} are given", net.weights(), w.size());
    weights = transposed_layers<Eigen::Map<const MatrixXd>>(net, w.data());
    inputs.resize(weights.size());
    sums.resize(weights.size());
  }

  // The outputs for so many rows of x from `begin` on.
  const MatrixXd& forward(const MatrixXd& x, Index begin, Index count) {
    inputs[0].resize(count, x.cols());
    copy_rows(x, begin, count, inputs[0], 0);
    for (std::size_t l = 0; l < weights.size(); ++l) {
      sums[l].setZero(count, weights[l].cols());
      add_product(sums[l], inputs[l], weights[l]);
      if (l + 1 < weights.size()) activate(network.slopes[l], sums[l], inputs[l + 1]);
    }
    return sums.back();
  }

  // The outputs less the same rows of y.
  MatrixXd errors(const MatrixXd& x, const MatrixXd& y, Index begin, Index count) {
    MatrixXd d = forward(x, begin, count);
    for (Index j = 0; j < d.cols(); ++j)
      for (Index i = 0; i < count; ++i) d(i, j) -= y(begin + i, j);
    return d;
  }
  double squared_errors(const MatrixXd& x, const MatrixXd& y) {
    double squares = 0;
    for (Index begin = 0; begin < x.rows(); begin += kBlock)
      squares += errors(x, y, begin, std::min(kBlock, x.rows() - begin)).squaredNorm();
    return squares;
  }

  // visit(layer, d of the layer's sums) from the last layer to the first, starting with d of the outputs.
  template <class Visit>
  void backward(MatrixXd d, const Visit& visit) const {
    for (std::size_t l = weights.size(); l-- > 0;) {
      visit(l, d);
      if (l == 0) break;
      d = product_by_transposed(d, weights[l]);
      through_activation(network.slopes[l - 1], sums[l - 1], d);
    }
  }
};

double prior_energy(const WeightPrior& prior, const VectorXd& weights) {
  double sum = 0;
  for (Index i = 0; i < weights.size(); ++i) sum += prior.precision[i] * std::pow(weights[i] - prior.mean[i], 2);
  return sum / 2;
}

}  // namespace

Index Network::weights() const {
  std::size_t count = 0;
  for (std::size_t l = 0; l + 1 < layers.size(); ++l) count += layers[l] * layers[l + 1];
  return static_cast<Index>(count);
}

MatrixXd Network::outputs(const VectorXd& w, const MatrixXd& inputs) const {
  Pass pass(*this, w);
  MatrixXd result(inputs.rows(), static_cast<Index>(layers.back()));
  for (Index begin = 0; begin < inputs.rows(); begin += kBlock) {
    const Index count = std::min(kBlock, inputs.rows() - begin);
    copy_rows(pass.forward(inputs, begin, count), 0, count, result, begin);
  }
  return result;
}

WeightPrior WeightPrior::none(const Network& network) {
  return {VectorXd::Zero(network.weights()), VectorXd::Zero(network.weights())};
}

WeightPrior WeightPrior::centred(const Network& network, double scale) {
  WeightPrior prior = none(network);
  Index at = 0;
  for (std::size_t l = 0; l + 1 < network.layers.size(); ++l) {
    const auto count = static_cast<Index>(network.layers[l] * network.layers[l + 1]);
    std::fill_n(prior.precision.data() + at, count, static_cast<double>(network.layers[l]) / scale);
    at += count;
  }
  return prior;
}

Energy::Energy(Network network, MatrixXd inputs, MatrixXd targets, double noise, WeightPrior prior)
    : network_(std::move(network)),
      inputs_(std::move(inputs)),
      targets_(std::move(targets)),
      noise_(noise),
      prior_(std::move(prior)) {
  if (network_.layers.size() < 2 || network_.slopes.size() + 2 != network_.layers.size())
    fail("a network of {} widths needs {} slopes, {} are given", network_.layers.size(),
         std::max<std::size_t>(2, network_.layers.size()) - 2, network_.slopes.size());
  if (inputs_.rows() != targets_.rows()) fail("{} rows of inputs but {} of targets", inputs_.rows(), targets_.rows());
  if (inputs_.cols() != static_cast<Index>(network_.layers.front()) ||
      targets_.cols() != static_cast<Index>(network_.layers.back()))
    fail("the network takes {} features to {} outputs, the data have {} and {}", network_.layers.front(),
         network_.layers.back(), inputs_.cols(), targets_.cols());
  if (!(noise_ > 0)) fail("noise is {}; a positive standard deviation is expected", noise_);
}

double Energy::likelihood_gradient(const VectorXd& weights, Index begin, Index count, VectorXd& gradient) const {
  Pass pass(network_, weights);
  auto into = gradient_layers(network_, gradient);
  double squares = 0;
  for (const Index end = begin + count; begin < end; begin += kBlock) {
    const Index rows = std::min(kBlock, end - begin);
    MatrixXd d = pass.errors(inputs_, targets_, begin, rows);
    squares += d.squaredNorm();
    d /= noise_ * noise_;
    pass.backward(std::move(d), [&](std::size_t l, const MatrixXd& at_sums) {
      add_transposed_product(into[l], pass.inputs[l], at_sums);
    });
  }
  return squares / (2 * noise_ * noise_);
}

double Energy::gradient(const VectorXd& weights, VectorXd& gradient) const {
  const double energy = likelihood_gradient(weights, 0, rows(), gradient);
  for (Index i = 0; i < weights.size(); ++i) gradient[i] += prior_.precision[i] * (weights[i] - prior_.mean[i]);
  return energy + prior_energy(prior_, weights);
}

VectorXd Energy::hessian_diagonal(const VectorXd& weights) const {
  Pass pass(network_, weights);
  VectorXd diagonal;
  auto into = gradient_layers(network_, diagonal);
  std::vector<MatrixXd> squared_inputs(into.size()), squared_slopes(into.size());
  for (Index begin = 0; begin < rows(); begin += kBlock) {
    const Index count = std::min(kBlock, rows() - begin);
    pass.forward(inputs_, begin, count);
    for (std::size_t l = 0; l < into.size(); ++l) to_squares(pass.inputs[l], squared_inputs[l]);
    for (Index k = 0; k < targets_.cols(); ++k) {
      MatrixXd d(count, targets_.cols());
      d.setZero();
      std::fill_n(&d(0, k), count, 1 / noise_);
      pass.backward(std::move(d), [&](std::size_t l, const MatrixXd& at_sums) {
        to_squares(at_sums, squared_slopes[l]);
        add_transposed_product(into[l], squared_inputs[l], squared_slopes[l]);
      });
    }
  }
  diagonal += prior_.precision;
  return diagonal;
}

double Energy::mean_nll(const VectorXd& weights) const {
  const double squares = Pass(network_, weights).squared_errors(inputs_, targets_);
  return squares / (2 * noise_ * noise_ * static_cast<double>(targets_.size())) +
         0.5 * std::log(2 * std::numbers::pi * noise_ * noise_);
}

}  // namespace dma::baselines
