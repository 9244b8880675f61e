#include "tools/experiments/baselines/network.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "engine/support/dense.h"
#include "engine/support/text.h"

namespace dma::baselines {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// Examples that are taken through the network at once: columns of this length, for all layers, fit into the cache.
constexpr Index kBlock = 256;

template <class Use>
void by_blocks(Index begin, Index end, const Use& use) {
  for (; begin < end; begin += kBlock) use(begin, std::min(kBlock, end - begin));
}

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

  // The outputs for `count` rows of x from `begin` on.
  const MatrixXd& forward(const MatrixXd& x, Index begin, Index count) {
    inputs[0] = x.middleRows(begin, count);
    for (std::size_t l = 0; l < weights.size(); ++l) {
      sums[l].setZero(count, weights[l].cols());
      add_product(sums[l], inputs[l], weights[l]);
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
      d = product_by_transposed(d, weights[l]);
      d = (sums[l - 1].array() > 0).select(d, network.slopes[l - 1] * d);
    }
  }
};

}  // namespace

Index Network::weights() const {
  std::size_t count = 0;
  for (std::size_t l = 0; l + 1 < layers.size(); ++l) count += layers[l] * layers[l + 1];
  return static_cast<Index>(count);
}

MatrixXd Network::outputs(const VectorXd& w, const MatrixXd& inputs) const {
  Pass pass(*this, w);
  MatrixXd result(inputs.rows(), static_cast<Index>(layers.back()));
  by_blocks(0, inputs.rows(),
            [&](Index begin, Index count) { result.middleRows(begin, count) = pass.forward(inputs, begin, count); });
  return result;
}

WeightPrior WeightPrior::none(const Network& network) {
  return {VectorXd::Zero(network.weights()), VectorXd::Zero(network.weights())};
}

WeightPrior WeightPrior::centred(const Network& network, double scale) {
  WeightPrior prior = none(network);
  for (auto& layer : gradient_layers(network, prior.precision))
    layer.setConstant(static_cast<double>(layer.rows()) / scale);
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
  by_blocks(begin, begin + count, [&](Index at, Index rows) {
    MatrixXd d = pass.forward(inputs_, at, rows) - targets_.middleRows(at, rows);
    squares += d.squaredNorm();
    d /= noise_ * noise_;
    pass.backward(std::move(d), [&](std::size_t l, const MatrixXd& at_sums) {
      add_transposed_product(into[l], pass.inputs[l], at_sums);
    });
  });
  return squares / (2 * noise_ * noise_);
}

double Energy::gradient(const VectorXd& weights, VectorXd& gradient) const {
  const double energy = likelihood_gradient(weights, 0, rows(), gradient);
  double prior = 0;
  for (Index i = 0; i < weights.size(); ++i) {
    const double off = weights[i] - prior_.mean[i];
    gradient[i] += prior_.precision[i] * off;
    prior += prior_.precision[i] * (off * off);
  }
  return energy + prior / 2;
}

VectorXd Energy::hessian_diagonal(const VectorXd& weights) const {
  Pass pass(network_, weights);
  VectorXd diagonal;
  auto into = gradient_layers(network_, diagonal);
  by_blocks(0, rows(), [&](Index begin, Index count) {
    pass.forward(inputs_, begin, count);
    for (Index k = 0; k < targets_.cols(); ++k) {
      MatrixXd d = MatrixXd::Zero(count, targets_.cols());
      d.col(k).setConstant(1 / noise_);
      pass.backward(std::move(d), [&](std::size_t l, const MatrixXd& at_sums) {
        add_transposed_product(into[l], pass.inputs[l].cwiseAbs2(), at_sums.cwiseAbs2());
      });
    }
  });
  return diagonal + prior_.precision;
}

double Energy::mean_nll(const VectorXd& weights) const {
  Pass pass(network_, weights);
  double squares = 0;
  by_blocks(0, rows(), [&](Index begin, Index count) {
    squares += (pass.forward(inputs_, begin, count) - targets_.middleRows(begin, count)).squaredNorm();
  });
  return squares / (2 * noise_ * noise_ * static_cast<double>(targets_.size())) +
         0.5 * std::log(2 * std::numbers::pi * noise_ * noise_);
}

}  // namespace dma::baselines
