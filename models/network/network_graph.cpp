#include "models/network/network_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <cmath>

#include "engine/support/text.h"

namespace dma {

namespace {

std::vector<double> slice(const std::vector<double>& values, std::size_t first, std::size_t count) {
  const auto begin = values.begin() + static_cast<std::ptrdiff_t>(first);
  return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}
std::vector<double> listed(const Vector& values) { return {values.begin(), values.end()}; }

// From the inputs to the values.
void add_layers(BnnGraph& net, const BnnShape& shape, const std::vector<LayerPrior>& priors,
                const std::vector<Index>& seen) {
  Graph& g = net.graph;
  const std::size_t layers = shape.layers.size() - 1;
  if (shape.slopes.size() + 1 != layers)
    fail("a network of {} layers has {} slopes; {} are expected", layers, shape.slopes.size(), layers - 1);
  VariableId x = net.inputs;
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
    const bool reads_some = l == 1 && !seen.empty();
    const auto some = [&](std::size_t times) {
      std::vector<std::uint32_t> table;
      for (; times > 0; --times) table.insert(table.end(), seen.begin(), seen.end());
      return gather(x, std::move(table));
    };
    Connection read = reads_some ? some(rows) : column(x);
    if (l < layers && shape.smoothing > 0) {
      const VariableId smoothed = g.variable(label("smoothed"), columns);
      g.factor("gaussian_noise", {reads_some ? some(1) : Connection{x}, smoothed},
               {{"variance", shape.smoothing * shape.smoothing}}, {.name = label("smoothing")});
      read = column(smoothed);
    }
    g.factor("product", {w, read, p}, {}, {.name = label("product")});
    if (shape.bias) {
      const VariableId b = g.shared(label("b"), rows), s = g.variable(label("s"), rows);
      net.biases.push_back(b);
      net.bias_priors.push_back(prior_of(b, rows * columns, rows, label("bias_prior")));
      g.factor("sum", {p, s}, {}, {.name = label("sum")});
      g.factor("add", {s, b, z}, {}, {.name = label("add_bias")});
    } else {
      g.factor("sum", {p, z}, {}, {.name = label("sum")});
    }
    net.values = z;
    net.layer_values.push_back(z);
    if (l == layers) return;
    x = g.variable(label("x"), rows);
    g.factor("leaky_relu", {z, x}, {{"slope", shape.slopes[l - 1]}}, {.name = label("leaky_relu")});
  }
}

Connection element_of(VariableId v, std::size_t outputs, std::size_t output) {
  return outputs == 1 ? Connection{v} : gather(v, {static_cast<std::uint32_t>(output)});
}

// values + a_l + b_l x_j + ..., with l chosen by the tables of the data.
void add_effects(BnnGraph& net, const BnnShape& shape, const LayerPrior& prior) {
  Graph& g = net.graph;
  const std::size_t outputs = shape.layers.back();
  std::size_t first = 0;
  for (std::size_t l = 0; l < shape.levels.size(); ++l)
    for (std::size_t s = 0; s <= shape.levels[l].slopes.size(); ++s) {
      const std::string term =
          s == 0 ? fmt::format("level{}", l + 1) : fmt::format("level{}_x{}", l + 1, shape.levels[l].slopes[s - 1] + 1);
      const VariableId sum = g.variable(term + "_sum", outputs);
      for (std::size_t k = 0; k < outputs; ++k) {
        const std::string name = outputs == 1 ? term : fmt::format("{}_y{}", term, k + 1);
        const std::size_t size = shape.levels[l].levels + 1;
        const VariableId effect = g.shared(name, size);
        g.factor("gaussian_prior", {effect},
                 {{"mean", slice(prior.mean, first, size)}, {"variance", slice(prior.variance, first, size)}},
                 {.name = name + "_prior"});
        first += size;
        const Connection before = element_of(net.values, outputs, k), after = element_of(sum, outputs, k);
        FactorId chooser;
        if (s == 0) {
          chooser = g.factor("add", {before, given(effect), after}, {}, {.name = name + "_add"});
        } else {
          const auto slope = static_cast<std::uint32_t>(shape.levels[l].slopes[s - 1]);
          const VariableId part = g.variable(name + "_part");
          chooser =
              g.factor("product", {given(effect), gather(net.inputs, {slope}), part}, {}, {.name = name + "_times"});
          g.factor("add", {before, part, after}, {}, {.name = name + "_add"});
        }
        net.effects.push_back({effect, chooser, l});
      }
      net.values = sum;
    }
}

// The noise of one output, as it was learned.
class LearnedNoise {
 public:
  LearnedNoise(BnnGraph& net, std::size_t outputs) : net_(net), g_(net.graph), outputs_(outputs) {}

  void add(std::size_t output, const NetworkNoise& learned) {
    const auto& [noise, tails, count] = learned;
    std::vector<Connection> ends = {element_of(net_.values, outputs_, output),
                                    element_of(net_.outputs, outputs_, output)};
    const std::string name = numbered("noise", output);
    if (count) {
      ParameterList parameters{{"exposure", count->exposure}};
      if (count->shape > 0) parameters.push_back({"shape", count->shape});
      g_.factor(count->kind(), ends, parameters, {.name = name});
      return;
    }
    if (noise.depends_on_inputs()) {
      ends.insert(ends.begin() + 1, Connection{add_log_noise(noise, tails.scale, numbered("", output))});
      const FactorOptions options{.name = name, .method = "ep"};
      if (tails.gaussian())
        g_.factor("gaussian_log_variance", ends, {}, options);
      else
        g_.factor("student_t_log_variance", ends, {{"degrees", tails.degrees}}, options);
      return;
    }
    const double variance = tails.scale * std::exp(noise.bounded(noise.beta(0)));
    if (tails.gaussian())
      g_.factor("gaussian_noise", ends, {{"variance", variance}}, {.name = name});
    else
      g_.factor("student_t_noise", ends, {{"scale", std::sqrt(variance)}, {"degrees", tails.degrees}},
                {.name = name, .method = "ep"});
  }

 private:
  std::string numbered(const std::string& name, std::size_t output) const {
    return outputs_ == 1 ? name : fmt::format("{}{}", name, output + 1);
  }
  VariableId known(const std::string& name, double value) {
    const VariableId v = g_.variable(name);
    g_.factor("gaussian_prior", {v}, {{"mean", value}, {"variance", 0.0}});
    return v;
  }
  // LogLinearNoise::variances() in logarithms, with a factor on the variance. The smaller is minus the larger of both
  // turned round.
  VariableId add_log_noise(const LogLinearNoise& noise, double factor, const std::string& of) {
    const double more = std::log(factor);
    const VariableId line = g_.variable("line" + of), below = g_.variable("below" + of),
                     bounded = g_.variable("bounded" + of), log_noise = g_.variable("log_noise" + of);
    g_.factor("linear", {column(net_.inputs), line},
              {{"A", listed(-noise.beta.tail(noise.beta.size() - 1))}, {"b", -noise.beta(0)}});
    g_.factor("max", {line, known("highest" + of, -noise.highest), below}, {}, {.method = "linearised"});
    g_.factor("affine", {below, bounded}, {{"a", -1.0}, {"b", more}});
    g_.factor("max", {bounded, known("lowest" + of, noise.bounded(noise.lowest) + more), log_noise}, {},
              {.method = "linearised"});
    return log_noise;
  }

  BnnGraph& net_;
  Graph& g_;
  std::size_t outputs_;
};

BnnGraph network_without_noise(const BnnShape& shape, const std::vector<LayerPrior>& priors,
                               const std::vector<Index>& columns = {}, std::size_t inputs = 0) {
  BnnGraph net;
  net.inputs = net.graph.observed("x", columns.empty() ? shape.layers[0] : inputs);
  add_layers(net, shape, priors, columns);
  if (!shape.levels.empty()) add_effects(net, shape, priors.back());
  return net;
}

}  // namespace

BnnGraph network_graph(const BnnShape& shape, const std::vector<LayerPrior>& priors,
                       const std::vector<double>& noise_variance) {
  BnnGraph net = network_without_noise(shape, priors);
  net.outputs = net.graph.observed("y", shape.layers.back());
  net.noise =
      net.graph.factor("gaussian_noise", {net.values, net.outputs}, {{"variance", noise_variance}}, {.name = "noise"});
  return net;
}

BnnGraph network_of_classes(const BnnShape& shape, const std::vector<LayerPrior>& priors) {
  BnnGraph net = network_without_noise(shape, priors);
  const std::size_t outputs = shape.layers.back();
  net.outputs =
      outputs == 1 ? net.graph.observed("y") : net.graph.observed("y", 1, fmt::format("categorical({})", outputs));
  net.noise = net.graph.factor(outputs == 1 ? "logistic" : "softmax", {net.values, net.outputs}, {}, {.name = "class"});
  return net;
}

BnnGraph network_graph(const BnnShape& shape, const std::vector<LayerPrior>& priors,
                       const std::vector<NetworkNoise>& noise, const std::vector<Index>& columns, std::size_t inputs) {
  BnnGraph net = network_without_noise(shape, priors, columns, inputs);
  net.outputs = net.graph.observed("y", shape.layers.back());
  LearnedNoise learned(net, noise.size());
  for (std::size_t k = 0; k < noise.size(); ++k) learned.add(k, noise[k]);
  return net;
}

std::size_t BnnShape::level_scalars() const {
  std::size_t all = 0;
  for (const LevelEffects& own : levels) all += (own.levels + 1) * (own.slopes.size() + 1) * layers.back();
  return all;
}

std::vector<LayerPrior> layer_priors(const BnnShape& shape, const SharedPrior& prior, const Vector& scales) {
  const Vector variance =
      prior.scaled(scales.size() > 0 ? scales : Vector(Vector::Ones(prior.group_count()))).cwiseInverse();
  const std::vector<double> means = listed(prior.mean), variances = listed(variance);
  std::vector<LayerPrior> layers;
  std::size_t first = 0;
  for (std::size_t l = 0; l + 1 < shape.layers.size(); ++l) {
    const std::size_t count = shape.fan_in(l) * shape.layers[l + 1];
    layers.push_back({slice(means, first, count), slice(variances, first, count)});
    first += count;
  }
  if (first < means.size())
    layers.push_back({slice(means, first, means.size() - first), slice(variances, first, means.size() - first)});
  return layers;
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

std::vector<LayerPrior> fan_in_priors(const BnnShape& shape, double scale) {
  std::vector<LayerPrior> priors;
  for (std::size_t l = 0; l + 1 < shape.layers.size(); ++l) {
    const std::size_t fan_in = shape.fan_in(l), count = fan_in * shape.layers[l + 1];
    priors.push_back(
        {std::vector<double>(count, 0.0), std::vector<double>(count, scale / static_cast<double>(fan_in))});
  }
  constexpr double kEffectVariance = 0.3;  // before learning, in standardised units
  if (const std::size_t count = shape.level_scalars(); count > 0)
    priors.push_back({std::vector<double>(count, 0.0), std::vector<double>(count, kEffectVariance)});
  return priors;
}

}  // namespace dma
