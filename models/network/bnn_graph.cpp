#include "models/network/bnn_graph.h"

#include <fmt/format.h>

#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <cmath>

#include "factors/standard_registry.h"

namespace dma {

namespace {

std::vector<double> slice(const std::vector<double>& values, std::size_t first, std::size_t count) {
  const auto begin = values.begin() + static_cast<std::ptrdiff_t>(first);
  return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

}  // namespace

BnnGraph build_bnn_graph(const BnnShape& shape, const std::vector<LayerPrior>& priors,
                         const std::vector<double>& noise_variance) {
  BnnGraph net;
  Graph& g = net.graph;
  const std::size_t layers = shape.layers.size() - 1;
  VariableId x = net.inputs = g.observed("x", shape.layers[0]);
  for (std::size_t l = 1; l <= layers; ++l) {
    const std::size_t rows = shape.layers[l], columns = shape.layers[l - 1];
    const auto label = [&](std::string_view name) { return fmt::format("{}{}", name, l); };
    const auto prior_of = [&](VariableId v, std::size_t first, std::size_t count, const std::string& name) {
      return g.factor("gaussian_prior", {v},
                      {{"mean", slice(priors[l - 1].mean, first, count)},
                       {"variance", slice(priors[l - 1].variance, first, count)}},
                      {.name = name});
    };
    const VariableId w = g.shared(label("W"), rows * columns);
    net.weights.push_back(w);
    net.weight_priors.push_back(prior_of(w, 0, rows * columns, label("prior")));
    const VariableId p = g.variable(label("p"), rows * columns);
    const VariableId z = g.variable(label("z"), rows);
    if (l < layers && shape.smoothing > 0) {
      const VariableId smoothed = g.variable(label("smoothed"), columns);
      g.factor("gaussian_noise", {x, smoothed}, {{"variance", shape.smoothing * shape.smoothing}},
               {.name = label("smoothing")});
      x = smoothed;
    }
    g.factor("product", {w, column(x), p}, {}, {.name = label("product")});
    if (shape.bias) {
      const VariableId b = g.shared(label("b"), rows), s = g.variable(label("s"), rows);
      net.biases.push_back(b);
      net.bias_priors.push_back(prior_of(b, rows * columns, rows, label("bias_prior")));
      g.factor("sum", {p, s}, {}, {.name = label("sum")});
      g.factor("add", {s, b, z}, {}, {.name = label("add_bias")});
    } else {
      g.factor("sum", {p, z}, {}, {.name = label("sum")});
    }
    if (!shape.activation_prior.empty() && std::isfinite(shape.activation_prior[l - 1]))
      g.factor("gaussian_prior", {z}, {{"mean", 0.0}, {"variance", shape.activation_prior[l - 1]}},
               {.name = label("activation_prior")});
    if (l == layers) {
      net.values = z;
      if (noise_variance.empty()) return net;
      net.outputs = g.observed("y", rows);
      net.noise = g.factor("gaussian_noise", {z, net.outputs}, {{"variance", noise_variance}}, {.name = "noise"});
    } else {
      x = g.variable(label("x"), rows);
      g.factor("leaky_relu", {z, x}, {{"slope", shape.slopes[l - 1]}}, {.name = label("leaky_relu")});
    }
  }
  return net;
}

std::vector<BnnGraph::Learned> BnnGraph::learned(std::size_t layer) const {
  std::vector<Learned> all = {{weights.at(layer), weight_priors.at(layer)}};
  if (!biases.empty()) all.push_back({biases.at(layer), bias_priors.at(layer)});
  return all;
}

std::vector<LayerPrior> draw_prior(const BnnShape& shape, double mean_scale, double variance_scale,
                                   std::uint64_t seed) {
  boost::random::mt19937_64 random(seed);
  boost::random::normal_distribution<double> normal;
  const std::size_t layers = shape.layers.size() - 1;
  std::vector<LayerPrior> priors(layers);
  for (std::size_t l = 0; l < layers; ++l) {
    const std::size_t fan_in = shape.fan_in(l), count = shape.layers[l + 1] * fan_in;
    const auto fan = static_cast<double>(fan_in);
    for (std::size_t i = 0; i < count; ++i) priors[l].mean.push_back(mean_scale * normal(random) / std::sqrt(fan));
    priors[l].variance.assign(count, variance_scale / (static_cast<double>(layers) * fan));
  }
  return priors;
}

RowProgram network_rows(const BnnShape& shape) {
  static const Registry registry = standard_registry();
  std::vector<LayerPrior> priors;
  for (std::size_t l = 0; l + 1 < shape.layers.size(); ++l) {
    const std::size_t fan_in = shape.fan_in(l), count = fan_in * shape.layers[l + 1];
    priors.push_back({std::vector<double>(count, 0.0), std::vector<double>(count, 1 / static_cast<double>(fan_in))});
  }
  const BnnGraph net = build_bnn_graph(shape, priors, {});
  return RowProgram(net.graph, registry, {net.values});
}

}  // namespace dma
