#include "models/network/network_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <cmath>

#include "engine/support/error.h"
#include "engine/support/text.h"
#include "factors/standard_registry.h"
#include "models/table/relevance.h"

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
  const std::size_t layers = shape.layers.size() - 1, priors_on_values = shape.activation_prior.size();
  if (shape.slopes.size() + 1 != layers || (priors_on_values > 0 && priors_on_values != layers))
    fail("a network of {} layers has {} slopes and {} activation priors; {} and 0 or {} are expected", layers,
         shape.slopes.size(), priors_on_values, layers - 1, layers);
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
    if (!shape.activation_prior.empty() && std::isfinite(shape.activation_prior[l - 1]))
      g.factor("gaussian_prior", {z}, {{"mean", 0.0}, {"variance", shape.activation_prior[l - 1]}},
               {.name = label("activation_prior")});
    net.values = z;
    net.layer_values.push_back(z);
    if (l == layers) return;
    x = g.variable(label("x"), rows);
    g.factor("leaky_relu", {z, x}, {{"slope", shape.slopes[l - 1]}}, {.name = label("leaky_relu")});
  }
}

// The noise of one output, as it was learned.
class LearnedNoise {
 public:
  LearnedNoise(BnnGraph& net, std::size_t outputs) : net_(net), g_(net.graph), outputs_(outputs) {}

  void add(std::size_t output, const NetworkNoise& learned) {
    const auto& [noise, tails] = learned;
    std::vector<Connection> ends = {element(net_.values, output), element(net_.outputs, output)};
    const std::string name = numbered("noise", output);
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
  Connection element(VariableId v, std::size_t output) const {
    return outputs_ == 1 ? Connection{v} : gather(v, {static_cast<std::uint32_t>(output)});
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

std::vector<LayerPrior> layer_priors(const BnnShape& shape, const SharedPrior& prior, double scale) {
  const Vector variance = prior.scaled(Vector::Constant(prior.group_count(), scale)).cwiseInverse();
  const std::vector<double> means = listed(prior.mean), variances = listed(variance);
  std::vector<LayerPrior> layers;
  std::size_t first = 0;
  for (std::size_t l = 0; l + 1 < shape.layers.size(); ++l) {
    const std::size_t count = shape.fan_in(l) * shape.layers[l + 1];
    layers.push_back({slice(means, first, count), slice(variances, first, count)});
    first += count;
  }
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
  return priors;
}

namespace {

constexpr double kBiasPrecision = 0.04;  // of scores of classes: frequencies from 1 to 1000 are within two deviations
constexpr double kCertain = 1e300;       // precision of a start that is not drawn

void set_rows(const BnnGraph& net, SharedModel& model) {
  static const Registry registry = standard_registry();
  auto program = std::make_shared<const RowProgram>(net.graph, registry, std::vector{net.outputs});
  if (program->likelihoods()[0]) model.likelihoods = program->likelihoods();
  for (std::size_t l = 0; l < net.weights.size(); ++l) {
    const auto &w = net.graph[net.weights[l]], &z = net.graph[net.layer_values[l]];
    model.variables.push_back({w.name, z.size, w.size / z.size});
    if (!net.biases.empty()) model.variables.push_back({net.graph[net.biases[l]].name, z.size, 1});
  }
  model.rows = std::move(program);
  if (!model.columns.empty()) model.rows = std::make_shared<RowsOfColumns>(std::move(model.rows), model.columns);
}

// Inputs that matter less have less prior variance, and a unit as much in all as if inputs were alike.
void scale_by_relevance(const BnnShape& shape, const Vector& relevance, LayerPrior& first, double scale) {
  const double fan_in = relevance.sum() + (shape.bias ? 1 : 0);
  const auto inputs = static_cast<std::size_t>(relevance.size()), units = shape.layers[1];
  for (std::size_t i = 0; i < units * inputs; ++i)
    first.variance[i] = scale * relevance(static_cast<Index>(i % inputs)) / fan_in;
  for (std::size_t i = units * inputs; i < first.variance.size(); ++i) first.variance[i] = scale / fan_in;
}

SharedPrior prior_of(const std::vector<LayerPrior>& layers) {
  std::vector<double> mean, variance;
  for (const LayerPrior& layer : layers) {
    mean.insert(mean.end(), layer.mean.begin(), layer.mean.end());
    variance.insert(variance.end(), layer.variance.begin(), layer.variance.end());
  }
  return {Eigen::Map<const Vector>(mean.data(), std::ssize(mean)),
          Eigen::Map<const Vector>(variance.data(), std::ssize(variance)).cwiseInverse()};
}

// The simple network is the linear model of all inputs, which learns quickly.
SharedModel network_model(const NetworkFamilyOptions& options, BnnShape shape, const Vector& relevance,
                          bool is_simple = false) {
  SharedModel model;
  const std::vector<Index> seen = inputs_that_matter(relevance);
  if (!is_simple && relevance.size() > 0 && std::ssize(seen) < relevance.size()) {
    model.columns = seen;
    shape.layers[0] = seen.size();
  }
  const auto priors_of = [&](double scale) {
    std::vector<LayerPrior> priors = fan_in_priors(shape, scale);
    if (relevance.size() > 0)
      scale_by_relevance(shape, model.columns.empty() ? relevance : Vector(relevance(seen)), priors[0], scale);
    return priors;
  };
  const bool is_given = !options.priors.empty() && !is_simple;
  const double scale = is_simple && !options.classes ? 1 : options.prior_variance_scale;
  model.spread = prior_of(priors_of(1));
  const std::vector<LayerPrior> priors = is_given ? options.priors : priors_of(scale);
  model.prior = prior_of(priors);
  const auto outputs = static_cast<Index>(shape.layers.back()), all = model.prior.mean.size();
  set_rows(options.classes ? network_of_classes(shape, priors)
                           : network_graph(shape, priors, std::vector<double>(shape.layers.back(), 1.0)),
           model);
  if (options.classes) {  // the biases of the scores are free
    model.prior.precision.tail(outputs).setConstant(kBiasPrecision);
    model.prior.group.assign(static_cast<std::size_t>(all), 0);
    std::fill_n(model.prior.group.end() - outputs, outputs, Index{-1});
    model.spread.precision.tail(outputs).setConstant(kCertain);
  }
  // A linear model of classes has one optimum, and a draw is far from it.
  if (is_simple || (options.classes && shape.layers.size() == 2)) {
    model.spread.precision.setConstant(kCertain);
  } else if (!is_given) {
    const Index hidden = all - outputs * static_cast<Index>(shape.fan_in(shape.layers.size() - 2));
    for (Index i = 0; i < hidden; ++i) model.anchored.push_back(i);
  }
  return model;
}

}  // namespace

SharedModel linear_model(std::size_t inputs, std::size_t outputs, const Vector& relevance) {
  const BnnShape shape{.layers = {inputs, outputs}, .slopes = {}};
  return network_model({.shape = shape}, shape, relevance, true);
}

BnnShape chosen_shape(const NetworkFamilyOptions& options, const GraphChoice& choice) {
  BnnShape shape = options.shape;
  shape.layers = {options.shape.layers.front()};
  shape.layers.insert(shape.layers.end(), choice.sizes.begin(), choice.sizes.end());
  shape.layers.push_back(options.shape.layers.back());
  if (!options.shape.slopes.empty()) shape.slopes.resize(choice.sizes.size(), options.shape.slopes[0]);
  shape.smoothing = choice.smoothing;
  return shape;
}

GraphFamily network_family(const NetworkFamilyOptions& options) {
  const std::vector<std::size_t>& layers = options.shape.layers;
  GraphFamily family{.model = [options](const GraphChoice& choice) {
    return network_model(options, chosen_shape(options, choice), choice.relevance);
  }};
  if (layers.size() > 2 && options.priors.empty())
    family.simple = [options](const Vector& relevance) {
      BnnShape linear = options.shape;
      linear.layers = {options.shape.layers.front(), options.shape.layers.back()};
      linear.slopes.clear(), linear.activation_prior.clear(), linear.bias = true;
      return network_model(options, linear, relevance, true);
    };
  family.first = {.sizes = {layers.begin() + 1, layers.end() - 1}, .smoothing = options.shape.smoothing};
  family.sizes = {{10}, {20}, {50}, {100}, {200}};
  family.deeper = {{20, 20}, {50, 50}};
  family.smoothings = [inputs = layers.front()](const GraphChoice& choice) {
    constexpr std::size_t kInputsOfSteepFunctions = 2;
    std::vector<double> all = {1, 0.5, 0.2};
    if ((choice.relevance.size() > 0 ? inputs_that_matter(choice.relevance).size() : inputs) <= kInputsOfSteepFunctions)
      all.push_back(0.07);
    return all;
  };
  if (options.learns_relevance)
    family.relevance = [seed = options.seed](const RowData& data) {
      return relevance_of(data.rows, data.targets, seed, data.weights);
    };
  family.text = [](const std::vector<std::size_t>& sizes) {
    return sizes.empty() ? std::string("linear model") : fmt::format("{} hidden units", joined(sizes, "-"));
  };
  return family;
}

}  // namespace dma
