// Networks as graphs of one family, which learning chooses among.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "engine/support/text.h"
#include "factors/standard_registry.h"
#include "models/network/network_graph.h"
#include "models/table/relevance.h"

namespace dma {

namespace {

constexpr double kBiasPrecision = 0.04;  // biases of class scores: frequencies from 1 to 1000 are within two deviations
constexpr double kCertain = 1e300;       // precision of a start that is not drawn

void set_rows(const BnnGraph& net, std::size_t inputs, SharedModel& model) {
  static const Registry registry = standard_registry();
  auto program = std::make_shared<const RowProgram>(net.graph, registry, std::vector{net.outputs});
  if (program->likelihoods()[0]) model.likelihoods = program->likelihoods();
  for (std::size_t l = 0; l < net.weights.size(); ++l) {
    const auto &w = net.graph[net.weights[l]], &z = net.graph[net.layer_values[l]];
    model.variables.push_back({w.name, z.size, w.size / z.size});
    if (!net.biases.empty()) model.variables.push_back({net.graph[net.biases[l]].name, z.size, 1});
  }
  std::vector<Index> read = model.columns;
  if (!net.effects.empty() && read.empty()) {
    read.resize(inputs);
    std::iota(read.begin(), read.end(), Index{0});
  }
  for (const BnnGraph::Effect& effect : net.effects)
    model.variables.push_back({net.graph[effect.variable].name, net.graph[effect.variable].size, 1});
  for (const RowProgram::Table& table : program->tables())
    read.push_back(
        static_cast<Index>(inputs + std::ranges::find(net.effects, table.factor, &BnnGraph::Effect::chooser)->level));
  model.rows = std::move(program);
  if (!read.empty()) model.rows = std::make_shared<RowsOfColumns>(std::move(model.rows), std::move(read));
}

// The precision of every term of the effects of values, for each output, is learned by evidence.
void group_effects(const BnnGraph& net, SharedModel& model) {
  SharedPrior& prior = model.prior;
  if (net.effects.empty()) return;
  prior.group.resize(static_cast<std::size_t>(prior.mean.size()), 0);
  auto end = prior.group.end();
  for (auto effect = net.effects.rbegin(); effect != net.effects.rend(); ++effect) {
    const auto& variable = net.graph[effect->variable];
    std::fill(end - variable.size, end, prior.group_count());
    end -= variable.size;
    prior.groups.push_back({.name = variable.name});
  }
  model.spread.precision.tail(prior.group.end() - end).setConstant(kCertain);
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
    for (LevelEffects& own : shape.levels)  // slopes are of columns that are seen
      for (std::size_t& slope : own.slopes)
        slope = static_cast<std::size_t>(std::ranges::lower_bound(seen, static_cast<Index>(slope)) - seen.begin());
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
  const auto outputs = static_cast<Index>(shape.layers.back()),
             all = model.prior.mean.size() - static_cast<Index>(shape.level_scalars());
  const BnnGraph net = options.classes ? network_of_classes(shape, priors)
                                       : network_graph(shape, priors, std::vector<double>(shape.layers.back(), 1.0));
  set_rows(net, options.shape.layers.front(), model);
  if (options.classes) {  // the biases of the scores are free
    model.prior.precision.segment(all - outputs, outputs).setConstant(kBiasPrecision);
    model.prior.group.assign(static_cast<std::size_t>(all), 0);
    std::fill_n(model.prior.group.end() - outputs, outputs, Index{-1});
    model.spread.precision.segment(all - outputs, outputs).setConstant(kCertain);
  }
  group_effects(net, model);
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
      linear.slopes.clear(), linear.bias = true;
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
    family.relevance = [seed = options.seed, levels = options.shape.levels](const RowData& data) {
      Vector relevance = relevance_of(data.rows.leftCols(data.numbers()), data.targets, seed, data.weights);
      for (const LevelEffects& own : levels)
        for (const std::size_t slope : own.slopes)
          if (relevance.size() > 0) relevance(static_cast<Index>(slope)) = 1;
      return relevance;
    };
  family.text = [](const std::vector<std::size_t>& sizes) {
    return sizes.empty() ? std::string("linear model") : fmt::format("{} hidden units", joined(sizes, "-"));
  };
  return family;
}

}  // namespace dma
