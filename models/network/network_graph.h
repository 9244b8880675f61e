// The factor graph of a feedforward Bayesian neural network for one example (the paper's Figure 1):
//
//   prior - W_l ---.
//        x_(l-1) - product - p_l - sum - z_l - leaky_relu - x_l ... z_L - gaussian_noise - y
//
// Layer l: W_l is d_l x d_(l-1), row by row; with a bias, b_l is added to the sum. A network without hidden layers is
// the linear model. The effects of the values of a row (LevelEffects) are added to the last layer.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/learn/gaussian/family.h"
#include "engine/learn/gaussian/log_linear_noise.h"
#include "engine/learn/gaussian/prediction.h"
#include "engine/learn/gaussian/program/row_program.h"
#include "models/learn/counts.h"
#include "models/learn/table_method.h"
#include "models/network/bnn.h"

namespace dma {

struct BnnShape {
  std::vector<std::size_t> layers;  // widths, inputs first, outputs last
  std::vector<double> slopes;       // one per hidden layer
  bool bias = true;
  // Standard deviation of noise on the inputs of every hidden layer; 0: none. Joint learning averages activations over
  // it, which smooths their kinks.
  double smoothing = 0.5;

  std::vector<LevelEffects> levels = {};  // slopes are in inputs

  std::size_t fan_in(std::size_t layer) const { return layers[layer] + (bias ? 1 : 0); }
  std::size_t level_scalars() const;
};

// Learned noise of an output.
struct NetworkNoise {
  LogLinearNoise noise;
  StudentTails tails = {};
  std::optional<CountNoise> count = {};  // instead of both
};

struct BnnGraph {
  Graph graph;
  VariableId inputs, values, outputs;  // values: the network's, before the noise
  FactorId noise;
  std::vector<VariableId> weights, biases, layer_values;  // per layer
  std::vector<FactorId> weight_priors, bias_priors;

  // The effects of values: a shared variable for each term and output, and the factor whose table chooses its element.
  struct Effect {
    VariableId variable;
    FactorId chooser;
    std::size_t level = 0;  // in BnnShape::levels
  };
  std::vector<Effect> effects;

  // Learned variables of a layer, with their priors: weights, then biases if it has any.
  struct Learned {
    VariableId variable;
    FactorId prior;
  };
  std::vector<Learned> learned(std::size_t layer) const;
};

// Targets with Gaussian noise of these variances, or of classes.
BnnGraph network_graph(const BnnShape& shape, const std::vector<LayerPrior>& priors,
                       const std::vector<double>& noise_variance);
BnnGraph network_of_classes(const BnnShape& shape, const std::vector<LayerPrior>& priors);
// With noise as it was learned: `log_noise`, linear in the inputs and bounded, is the log variance of y about the
// network. Where columns are named, they are those of so many inputs that the layers read, as many as the shape says.
BnnGraph network_graph(const BnnShape& shape, const std::vector<LayerPrior>& priors,
                       const std::vector<NetworkNoise>& noise, const std::vector<Index>& columns = {},
                       std::size_t inputs = 0);

// The prior of every layer, then that of the effects of values if there are any; factors on the precisions, by group.
std::vector<LayerPrior> layer_priors(const BnnShape& shape, const SharedPrior& prior, const Vector& scales = {});
// The same with N(0, scale / fan-in) on every weight.
std::vector<LayerPrior> fan_in_priors(const BnnShape& shape, double scale = 1);
// The paper's prior (App. E.1): means drawn from N(0, mean_scale^2 / fan_in), variances scale / (learnable layers *
// fan_in); fan_in counts the bias.
std::vector<LayerPrior> draw_prior(const BnnShape& shape, double mean_scale, double variance_scale, std::uint64_t seed);

struct NetworkFamilyOptions {
  BnnShape shape;                       // its hidden layers and smoothing are where choosing begins
  double prior_variance_scale = 1;      // times 1 / fan-in
  std::vector<LayerPrior> priors = {};  // given instead
  bool classes = false;                 // the outputs are scores of classes; one output tells two apart
  bool learns_relevance = true;         // relevance of the inputs is chosen by evidence: models/table/relevance.h
  std::uint64_t seed = 1;
};

// Networks of different widths, depths and smoothing, which see the inputs that matter; the linear model is the simple
// one. Members are anchored at their draws in all but the last layer, unless priors are given.
GraphFamily network_family(const NetworkFamilyOptions& options);
// The linear model of standardised columns.
SharedModel linear_model(std::size_t inputs, std::size_t outputs, const Vector& relevance = {});
BnnShape chosen_shape(const NetworkFamilyOptions& options, const GraphChoice& choice);

}  // namespace dma
