#include "models/network/bnn_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <cmath>

#include "engine/support/error.h"
#include "factors/standard_registry.h"

namespace dma {

namespace {

std::vector<double> slice(const std::vector<double>& values, std::size_t first, std::size_t count) {
  const auto begin = values.begin() + static_cast<std::ptrdiff_t>(first);
  return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}
std::vector<double> listed(const Vector& values) { return {values.begin(), values.end()}; }

// From the inputs to the values; `of` follows every name.
void add_layers(BnnGraph& net, const BnnShape& shape, const std::vector<LayerPrior>& priors,
                const std::string& of = {}) {
  Graph& g = net.graph;
  const std::size_t layers = shape.layers.size() - 1, priors_on_values = shape.activation_prior.size();
  if (shape.slopes.size() + 1 != layers || (priors_on_values > 0 && priors_on_values != layers))
    fail("a network of {} layers has {} slopes and {} activation priors; {} and 0 or {} are expected", layers,
         shape.slopes.size(), priors_on_values, layers - 1, layers);
  VariableId x = net.inputs;
  for (std::size_t l = 1; l <= layers; ++l) {
    const std::size_t rows = shape.layers[l], columns = shape.layers[l - 1];
    const auto label = [&](std::string_view name) { return fmt::format("{}{}{}", name, l, of); };
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
    net.values = z;
    if (l == layers) return;
    x = g.variable(label("x"), rows);
    g.factor("leaky_relu", {z, x}, {{"slope", shape.slopes[l - 1]}}, {.name = label("leaky_relu")});
  }
}

class Mixture {
 public:
  explicit Mixture(const std::vector<MixedNetwork>& networks)
      : networks_(networks), outputs_(networks.at(0).shape.layers.back()) {
    net_.inputs = g_.observed("x", networks[0].shape.layers[0]);
    net_.outputs = g_.observed("y", outputs_);
    const bool any_twice = std::ranges::any_of(networks, [](const auto& own) { return own.fits.size() > 1; });
    for (std::size_t j = 0; any_twice && j < outputs_; ++j)
      fit_.push_back(category(numbered("fit", j), {"plain", "weighted"}));
  }

  Graph graph() {
    std::vector<std::string> names;
    std::vector<double> fractions;
    for (const MixedNetwork& own : networks_) names.push_back(own.name), fractions.push_back(own.fraction);
    if (names.size() > 1) {
      chosen_ = {{category("model", names), 0}};
      g_.factor("categorical_prior", {chosen_[0].variable}, {{"probability", fractions}}, {.name = "fractions"});
    }
    for (const MixedNetwork& own : networks_) {
      for (std::size_t f = 0; f < own.fits.size(); ++f) add(own, f);
      if (!chosen_.empty()) ++chosen_[0].value;
    }
    return std::move(g_);
  }

 private:
  std::string numbered(const std::string& name, std::size_t output) const {
    return outputs_ == 1 ? name : fmt::format("{}{}", name, output + 1);
  }
  Connection element(VariableId v, std::size_t output) const {
    return outputs_ == 1 ? Connection{v} : gather(v, {static_cast<std::uint32_t>(output)});
  }
  VariableId category(const std::string& name, const std::vector<std::string>& values) {
    const VariableId v = g_.variable(name, 1, fmt::format("categorical({})", values.size()));
    g_.name_categories(v, values);
    return v;
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
    if (!noise.depends_on_inputs()) return known("log_noise" + of, noise.bounded(noise.beta(0)) + more);
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

  void add(const MixedNetwork& own, std::size_t f) {
    const MixedNetwork::Fit& learned = own.fits[f];
    const bool is_second = f > 0, is_only = own.fits.size() == 1;
    const std::string of = (&own == &networks_[0] ? "" : "_" + own.name) + (is_second ? "_weighted" : "");
    add_layers(net_, own.shape, learned.priors, of);
    for (std::size_t j = 0; j < outputs_; ++j) {
      const LogLinearNoise& noise = learned.noise[j];
      const StudentTails tails = j < learned.tails.size() ? learned.tails[j] : StudentTails();
      const bool by_inputs = noise.depends_on_inputs();
      std::vector<Connection> ends = {element(net_.values, j), element(net_.outputs, j)};
      if (by_inputs || is_second) {
        const VariableId log_noise = add_log_noise(noise, tails.scale, numbered("", j) + of);
        if (by_inputs) ends.insert(ends.begin() + 1, Connection{log_noise});
        if (is_second) choose_fit(own, j, log_noise, std::log(tails.scale), of);
      }
      if (is_only && !fit_.empty())
        g_.factor("categorical_prior", {fit_[j]}, {{"probability", {1.0, 0.0}}}, {.when = chosen_});
      const double variance = tails.scale * std::exp(noise.bounded(noise.beta(0)));
      FactorOptions options{.name = numbered("noise", j) + of, .method = "ep", .when = chosen_};
      if (!is_only) options.when.push_back({fit_[j], static_cast<std::uint32_t>(f)});
      if (by_inputs && tails.gaussian())
        g_.factor("gaussian_log_variance", ends, {}, options);
      else if (by_inputs)
        g_.factor("student_t_log_variance", ends, {{"degrees", tails.degrees}}, options);
      else if (tails.gaussian())
        options.method = "exact", g_.factor("gaussian_noise", ends, {{"variance", variance}}, options);
      else
        g_.factor("student_t_noise", ends, {{"scale", std::sqrt(variance)}, {"degrees", tails.degrees}}, options);
    }
  }

  // The second where its noise is small, see MixedNetwork::balance.
  void choose_fit(const MixedNetwork& own, std::size_t j, VariableId log_noise, double more, const std::string& of) {
    const VariableId scores = g_.variable(numbered("scores", j) + of, 2);
    g_.factor("linear", {column(log_noise), scores}, {{"A", {0.0, -2.0}}, {"b", {0.0, 2 * (own.balance[j] + more)}}});
    g_.factor("softmax", {scores, fit_[j]}, {}, {.method = "ep", .when = chosen_});
  }

  const std::vector<MixedNetwork>& networks_;
  std::size_t outputs_;
  BnnGraph net_;
  Graph& g_ = net_.graph;
  std::vector<VariableId> fit_;   // per output
  std::vector<GateCase> chosen_;  // the model that is added
};

}  // namespace

BnnGraph build_bnn_graph(const BnnShape& shape, const std::vector<LayerPrior>& priors,
                         const std::vector<double>& noise_variance) {
  BnnGraph net;
  net.inputs = net.graph.observed("x", shape.layers[0]);
  add_layers(net, shape, priors);
  if (noise_variance.empty()) return net;
  net.outputs = net.graph.observed("y", shape.layers.back());
  net.noise = net.graph.factor("gaussian_noise", {net.values, net.outputs}, {{"variance", noise_variance}},
                               {.name = "noise"});
  return net;
}

Graph mixture_graph(const std::vector<MixedNetwork>& networks) { return Mixture(networks).graph(); }

std::vector<LayerPrior> layer_priors(const BnnShape& shape, const SharedPrior& prior, double scale) {
  const Vector variance = (scale * prior.precision).cwiseInverse();
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

namespace {

BnnShape with_inputs(BnnShape shape, const std::vector<Index>& columns) {
  if (!columns.empty()) shape.layers.front() = columns.size();
  return shape;
}

}  // namespace

NetworkOfColumns::NetworkOfColumns(BnnShape shape, std::vector<Index> columns)
    : shape_(with_inputs(std::move(shape), columns)), columns_(std::move(columns)), program_(network_rows(shape_)) {}
void NetworkOfColumns::evaluate(const Vector& m, const Matrix& rows, Matrix& f) const {
  with_seen(rows, [&](const Matrix& seen) { program_.evaluate(m, seen, f); });
}
void NetworkOfColumns::linearise(const Vector& m, const Matrix& rows, Matrix& f, Matrix& gains) const {
  with_seen(rows, [&](const Matrix& seen) { program_.linearise(m, seen, f, gains); });
}
std::unique_ptr<Gains> NetworkOfColumns::gains(const Vector& m, const Matrix& rows, const Vector& variance,
                                               Matrix& f) const {
  return with_seen(rows, [&](const Matrix& seen) { return program_.gains(m, seen, variance, f); });
}
std::vector<UnitGains> NetworkOfColumns::units(const Vector& m, const Matrix& rows, Matrix& f) const {
  return with_seen(rows, [&](const Matrix& seen) { return program_.units(m, seen, f); });
}

}  // namespace dma
