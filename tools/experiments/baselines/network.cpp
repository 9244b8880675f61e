#include "tools/experiments/baselines/network.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "engine/support/error.h"

namespace dma::baselines {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using LayerWeights = Eigen::Map<const RowMajor>;

// Examples that are taken through the network at once: columns of this length, for all layers, fit into the cache.
constexpr Index kBlock = 256;

// The layers of one weight vector, as matrices.
std::vector<LayerWeights> matrices(const Network& network, const VectorXd& weights) {
  if (weights.size() != network.weights())
    fail("the network has {} weights, {} are given", network.weights(), weights.size());
  std::vector<LayerWeights> all;
  const double* at = weights.data();
  for (std::size_t l = 0; l + 1 < network.layers.size(); ++l) {
    const auto rows = static_cast<Index>(network.layers[l + 1]), columns = static_cast<Index>(network.layers[l]);
    all.emplace_back(at, rows, columns);
    at += rows * columns;
  }
  return all;
}

// Multiplies d by the derivative of the activation at z; plain, so that the compiler uses whole vectors.
void through_activation(double slope, const MatrixXd& z, MatrixXd& d) {
  const double* from = z.data();
  double* to = d.data();
  const Index size = z.size();
  for (Index i = 0; i < size; ++i) to[i] *= from[i] > 0 ? 1.0 : slope;
}

// What one block of examples leaves behind in every layer: examples are rows.
struct Pass {
  const Network& network;
  std::vector<LayerWeights> weights;
  std::vector<MatrixXd> inputs, sums;  // of each layer: what enters, what the weights make of it

  Pass(const Network& net, const VectorXd& w)
      : network(net), weights(matrices(net, w)), inputs(weights.size()), sums(weights.size()) {}

  const MatrixXd& forward(const Eigen::Ref<const MatrixXd>& x) {
    inputs[0] = x;
    for (std::size_t l = 0; l < weights.size(); ++l) {
      sums[l].noalias() = inputs[l] * weights[l].transpose();
      if (l + 1 < weights.size()) inputs[l + 1] = sums[l].cwiseMax(network.slopes[l] * sums[l]);
    }
    return sums.back();
  }

  // visit(layer, d of the layer's sums) from the last layer to the first, starting with d of the outputs.
  template <class Visit>
  void backward(MatrixXd d, const Visit& visit) const {
    for (std::size_t l = weights.size(); l-- > 0;) {
      visit(l, d);
      if (l == 0) break;
      MatrixXd below = d * weights[l];
      through_activation(network.slopes[l - 1], sums[l - 1], below);
      d = std::move(below);
    }
  }
};

std::vector<Eigen::Map<RowMajor>> gradient_matrices(const Network& network, VectorXd& gradient) {
  gradient.setZero(network.weights());
  std::vector<Eigen::Map<RowMajor>> all;
  for (const LayerWeights& w : matrices(network, gradient))
    all.emplace_back(const_cast<double*>(w.data()), w.rows(), w.cols());
  return all;
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
    result.middleRows(begin, count) = pass.forward(inputs.middleRows(begin, count));
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
    prior.precision.segment(at, count).setConstant(static_cast<double>(network.layers[l]) / scale);
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

double Energy::value(const VectorXd& weights) const {
  Pass pass(network_, weights);
  double squares = 0;
  for (Index begin = 0; begin < rows(); begin += kBlock) {
    const Index count = std::min(kBlock, rows() - begin);
    squares += (pass.forward(inputs_.middleRows(begin, count)) - targets_.middleRows(begin, count)).squaredNorm();
  }
  return (squares / (noise_ * noise_) + (prior_.precision.array() * (weights - prior_.mean).array().square()).sum()) /
         2;
}

double Energy::likelihood_gradient(const VectorXd& weights, Index begin, Index count, VectorXd& gradient) const {
  Pass pass(network_, weights);
  auto into = gradient_matrices(network_, gradient);
  double squares = 0;
  for (const Index end = begin + count; begin < end; begin += kBlock) {
    const Index rows = std::min(kBlock, end - begin);
    MatrixXd d = pass.forward(inputs_.middleRows(begin, rows)) - targets_.middleRows(begin, rows);
    squares += d.squaredNorm();
    d /= noise_ * noise_;
    pass.backward(std::move(d), [&](std::size_t l, const MatrixXd& at_sums) {
      into[l].noalias() += at_sums.transpose() * pass.inputs[l];
    });
  }
  return squares / (2 * noise_ * noise_);
}

double Energy::gradient(const VectorXd& weights, VectorXd& gradient) const {
  double energy = likelihood_gradient(weights, 0, rows(), gradient);
  const auto off = (weights - prior_.mean).array();
  energy += (prior_.precision.array() * off.square()).sum() / 2;
  gradient.array() += prior_.precision.array() * off;
  return energy;
}

VectorXd Energy::hessian_diagonal(const VectorXd& weights) const {
  Pass pass(network_, weights);
  VectorXd diagonal;
  auto into = gradient_matrices(network_, diagonal);
  for (Index begin = 0; begin < rows(); begin += kBlock) {
    const Index count = std::min(kBlock, rows() - begin);
    pass.forward(inputs_.middleRows(begin, count));
    for (Index k = 0; k < targets_.cols(); ++k) {
      MatrixXd d = MatrixXd::Zero(count, targets_.cols());
      d.col(k).setConstant(1 / noise_);
      pass.backward(std::move(d), [&](std::size_t l, const MatrixXd& at_sums) {
        into[l].noalias() += at_sums.cwiseAbs2().transpose() * pass.inputs[l].cwiseAbs2();
      });
    }
  }
  return diagonal + prior_.precision;
}

double Energy::mean_nll(const VectorXd& weights) const {
  const double squares = (network_.outputs(weights, inputs_) - targets_).squaredNorm();
  return squares / (2 * noise_ * noise_ * static_cast<double>(targets_.size())) +
         0.5 * std::log(2 * std::numbers::pi * noise_ * noise_);
}

}  // namespace dma::baselines
