// The factor graph of a feedforward Bayesian neural network for one example (the paper's Figure 1):
//
//   prior - W_l ---.
//        x_(l-1) - product - p_l - sum - z_l - leaky_relu - x_l ... z_L - gaussian_noise - y
//
// Layer l: W_l is d_l x d_(l-1), row by row; with a bias, b_l is added to the sum.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/learn/joint/log_linear_noise.h"
#include "engine/learn/joint/student_tails.h"
#include "engine/learn/rows/row_program.h"

namespace dma {

// Prior mean and variance of every weight of a layer, row by row, biases last.
struct LayerPrior {
  std::vector<double> mean, variance;
};

struct BnnShape {
  std::vector<std::size_t> layers;  // widths, inputs first, outputs last
  std::vector<double> slopes;       // one per hidden layer
  bool bias = true;
  std::vector<double> activation_prior = {};  // variance per layer, +inf for none; empty: none at all
  // Standard deviation of noise on the inputs of every hidden layer; 0: none. Joint learning averages activations over
  // it, which smooths their kinks.
  double smoothing = 0.5;

  std::size_t fan_in(std::size_t layer) const { return layers[layer] + (bias ? 1 : 0); }
};

struct BnnGraph {
  Graph graph;
  VariableId inputs, values, outputs;  // values: the network's, before the noise
  FactorId noise;
  std::vector<VariableId> weights, biases;  // per layer
  std::vector<FactorId> weight_priors, bias_priors;

  // What a layer learns, with the priors: its weights, then its biases if it has any.
  struct Learned {
    VariableId variable;
    FactorId prior;
  };
  std::vector<Learned> learned(std::size_t layer) const;
};

// Without noise, and without the variable y, where no noise variance is given.
BnnGraph build_bnn_graph(const BnnShape& shape, const std::vector<LayerPrior>& priors,
                         const std::vector<double>& noise_variance);

// A network of a mixture with the noise that it has learned, once or twice (joint_regression.h).
struct MixedNetwork {
  std::string name;     // the value of `model` that chooses it
  double fraction = 1;  // of the mixture
  BnnShape shape;
  struct Fit {
    std::vector<LayerPrior> priors;
    std::vector<LogLinearNoise> noise;      // per output
    std::vector<StudentTails> tails = {};  // per output; empty: Gaussian
  };
  std::vector<Fit> fits = {};
  // Of two fits, per output: at this log noise variance v0 each has half; at v the second 1 / (1 + exp(2 (v - v0))).
  std::vector<double> balance = {};
};

// The whole model of one example: the networks side by side, of which a latent category `model` chooses the one that
// made y, and `fit` between its two fits. `log_noise`, linear in the inputs and bounded, is the log variance of y about
// the network, before tails.
Graph mixture_graph(const std::vector<MixedNetwork>& networks);

// What a prior, its precisions times a factor, says of every layer.
std::vector<LayerPrior> layer_priors(const BnnShape& shape, const SharedPrior& prior, double scale);

// The paper's prior (App. E.1): means drawn from N(0, mean_scale^2 / fan_in), variances scale / (learnable layers *
// fan_in); fan_in counts the bias.
std::vector<LayerPrior> draw_prior(const BnnShape& shape, double mean_scale, double variance_scale, std::uint64_t seed);

// The values of a network with N(0, 1 / fan-in) on every weight, as joint learning computes them: scalars layer after
// layer, a layer's matrix row by row, then its biases.
RowProgram network_rows(const BnnShape& shape);

// The same of a network that sees some columns of the rows; none named: all.
class NetworkOfColumns final : public RowModel {
 public:
  NetworkOfColumns(BnnShape shape, std::vector<Index> columns);
  const BnnShape& shape() const { return shape_; }  // of what it sees
  const std::vector<Index>& columns() const { return columns_; }
  const SharedPrior& prior() const { return program_.prior(); }

  Index scalars() const override { return program_.scalars(); }
  Index outputs() const override { return program_.outputs(); }
  void evaluate(const Vector& m, const Matrix& rows, Matrix& f) const override;
  void linearise(const Vector& m, const Matrix& rows, Matrix& f, Matrix& gains) const override;
  std::unique_ptr<Gains> gains(const Vector& m, const Matrix& rows, const Vector& variance, Matrix& f) const override;
  std::vector<UnitGains> units(const Vector& m, const Matrix& rows, Matrix& f) const override;

 private:
  // Calls f with the columns of the rows that it sees.
  template <class F>
  auto with_seen(const Matrix& rows, const F& f) const {
    return columns_.empty() ? f(rows) : f(Matrix(rows(Eigen::all, columns_)));
  }
  BnnShape shape_;
  std::vector<Index> columns_;
  RowProgram program_;
};

}  // namespace dma
