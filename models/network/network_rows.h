// A fully connected leaky-ReLU network as a row model: the fast path of joint learning, all rows of a block at once.
//
// The kink is smoothed by an input smoothing tau: a unit with inputs h, weights w and bias b has z = w.h + b, v = tau^2
// |w|^2 and gives E[leaky(N(z, v))]. Scalars: layer after layer, a layer's matrix row by row (a row per unit), then its
// biases.
#pragma once

#include <vector>

#include "engine/learn/joint/fit.h"

namespace dma {

struct NetworkShape {
  std::vector<Index> layers;   // widths, inputs first, outputs last
  std::vector<double> slopes;  // one per hidden layer
  bool bias = true;
  double smoothing = 0.5;
};

class NetworkRows final : public RowModel {
 public:
  explicit NetworkRows(NetworkShape shape);
  Index scalars() const override { return scalars_; }
  Index outputs() const override { return shape_.layers.back(); }
  void evaluate(const Vector& m, const Matrix& rows, Matrix& f) const override;
  void linearise(const Vector& m, const Matrix& rows, Matrix& f, Matrix& gains) const override;
  std::vector<UnitGains> units(const Vector& m, const Matrix& rows, Matrix& f) const override;
  // Layer by layer where `variance` is constant within each layer.
  std::unique_ptr<Gains> gains(const Vector& m, const Matrix& rows, const Vector& variance, Matrix& f) const override;

  // N(0, 1 / fan-in) on every weight; fan-in counts the bias.
  SharedPrior prior() const;
  // Means drawn from that prior, to start from.
  Vector draw(std::uint64_t seed) const;
  const NetworkShape& shape() const { return shape_; }

 private:
  struct Values;
  class LayerGains;
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  Eigen::Map<const RowMajor> weights(const Vector& m, std::size_t layer) const;
  Values forward(const Vector& m, const Matrix& rows, bool with_slopes) const;
  Matrix affine(const Vector& m, std::size_t layer, const Matrix& h) const;

  NetworkShape shape_;
  std::vector<Index> first_;  // scalar of each layer
  Index scalars_ = 0;
};

}  // namespace dma
