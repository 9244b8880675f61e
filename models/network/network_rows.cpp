#include "models/network/network_rows.h"

#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <cmath>
#include <numbers>

namespace dma {

// Of every hidden layer l, for a block of rows: h[l] its inputs (h[0] the rows), a[l] = dh/dz, c[l] = tau^2 * 2 dh/dv,
// so that the gain of weight (j, i) is g_j (a_j h_i + c_j w_ji) with g the gain of the unit's output. Last: the inputs
// of the outputs.
struct NetworkRows::Values {
  std::vector<Matrix> h, a, c;
};

NetworkRows::NetworkRows(NetworkShape shape) : shape_(std::move(shape)) {
  for (std::size_t l = 0; l + 1 < shape_.layers.size(); ++l) {
    first_.push_back(scalars_);
    scalars_ += shape_.layers[l + 1] * (shape_.layers[l] + (shape_.bias ? 1 : 0));
  }
}

Eigen::Map<const NetworkRows::RowMajor> NetworkRows::weights(const Vector& m, std::size_t layer) const {
  return {m.data() + first_[layer], shape_.layers[layer + 1], shape_.layers[layer]};
}

Matrix NetworkRows::affine(const Vector& m, std::size_t layer, const Matrix& h) const {
  const auto w = weights(m, layer);
  Matrix z = h * w.transpose();
  if (shape_.bias) z.rowwise() += m.segment(first_[layer] + w.size(), w.rows()).transpose();
  return z;
}

NetworkRows::Values NetworkRows::forward(const Vector& m, const Matrix& rows, bool with_slopes) const {
  Values values;
  values.h.push_back(rows);
  for (std::size_t l = 0; l + 2 < shape_.layers.size(); ++l) {
    Matrix z = affine(m, l, values.h.back());
    const double slope = shape_.slopes[l], tau2 = shape_.smoothing * shape_.smoothing;
    const Vector sds = (tau2 * weights(m, l).rowwise().squaredNorm()).cwiseSqrt();
    Matrix a, c;
    if (with_slopes) a.resizeLike(z), c.resizeLike(z);
    for (Index j = 0; j < z.cols(); ++j) {
      const double sd = sds(j);
      for (Index n = 0; n < z.rows(); ++n) {
        const double x = z(n, j);
        const double t = sd > 0 ? x / sd : (x > 0 ? 40.0 : -40.0);
        const double phi = std::exp(-0.5 * t * t) / std::sqrt(2 * std::numbers::pi),
                     below = 0.5 * std::erfc(-t / std::numbers::sqrt2);
        z(n, j) = slope * x + (1 - slope) * (x * below + sd * phi);
        if (!with_slopes) continue;
        a(n, j) = slope + (1 - slope) * below;
        c(n, j) = sd > 0 ? tau2 * (1 - slope) * phi / sd : 0;
      }
    }
    values.h.push_back(std::move(z));
    if (with_slopes) values.a.push_back(std::move(a)), values.c.push_back(std::move(c));
  }
  return values;
}

void NetworkRows::evaluate(const Vector& m, const Matrix& rows, Matrix& f) const {
  f = affine(m, shape_.layers.size() - 2, forward(m, rows, false).h.back());
}

void NetworkRows::linearise(const Vector& m, const Matrix& rows, Matrix& f, Matrix& gains) const {
  const Values values = forward(m, rows, true);
  const std::size_t last = shape_.layers.size() - 2;
  f = affine(m, last, values.h.back());
  const Index n = rows.rows();
  gains.resize(n * outputs(), scalars_);
  if (outputs() > 1) gains.middleCols(first_[last], scalars_ - first_[last]).setZero();
  for (Index k = 0; k < outputs(); ++k) {
    auto block = gains.middleRows(k * n, n);
    const auto w_last = weights(m, last);
    block.middleCols(first_[last] + k * w_last.cols(), w_last.cols()) = values.h[last];
    if (shape_.bias) block.col(first_[last] + w_last.size() + k).setOnes();
    Matrix up = w_last.row(k).replicate(n, 1);  // df/dh of the layer below
    for (std::size_t l = last; l-- > 0;) {
      const auto w = weights(m, l);
      const Matrix& h = values.h[l];
      const Matrix g = up.cwiseProduct(values.a[l]);
      for (Index j = 0; j < w.rows(); ++j) {
        const Vector d = up.col(j).cwiseProduct(values.c[l].col(j));
        for (Index i = 0; i < w.cols(); ++i)
          block.col(first_[l] + j * w.cols() + i) = g.col(j).cwiseProduct(h.col(i)) + w(j, i) * d;
      }
      if (shape_.bias) block.middleCols(first_[l] + w.size(), w.rows()) = g;
      if (l > 0) up = g * w;
    }
  }
}

std::vector<UnitGains> NetworkRows::units(const Vector& m, const Matrix& rows, Matrix& f) const {
  const Values values = forward(m, rows, true);
  const std::size_t last = shape_.layers.size() - 2;
  f = affine(m, last, values.h.back());
  const Index n = rows.rows(), one = shape_.bias ? 1 : 0;
  std::vector<UnitGains> all;
  const auto add = [&](std::size_t l, Index unit) -> UnitGains& {
    const auto w = weights(m, l);
    UnitGains& gains = all.emplace_back();
    for (Index i = 0; i < w.cols(); ++i) gains.scalars.push_back(first_[l] + unit * w.cols() + i);
    if (one == 1) gains.scalars.push_back(first_[l] + w.size() + unit);
    gains.inputs.resize(n, w.cols() + one);
    gains.up.setZero(n, outputs());
    return gains;
  };
  std::vector<Matrix> up;  // per output: df/dh of the layer below
  for (Index k = 0; k < outputs(); ++k) up.push_back(weights(m, last).row(k).replicate(n, 1));
  for (std::size_t l = last; l-- > 0;) {
    const auto w = weights(m, l);
    for (Index j = 0; j < w.rows(); ++j) {
      UnitGains& gains = add(l, j);
      gains.inputs.leftCols(w.cols()) = values.h[l].array().colwise() * values.a[l].col(j).array();
      gains.inputs.leftCols(w.cols()).noalias() += values.c[l].col(j) * w.row(j);
      if (one == 1) gains.inputs.col(w.cols()) = values.a[l].col(j);
      for (Index k = 0; k < outputs(); ++k) gains.up.col(k) = up[static_cast<std::size_t>(k)].col(j);
    }
    if (l > 0)
      for (Matrix& of_output : up) of_output = of_output.cwiseProduct(values.a[l]) * w;
  }
  for (Index k = 0; k < outputs(); ++k) {
    UnitGains& gains = add(last, k);
    gains.inputs.leftCols(values.h[last].cols()) = values.h[last];
    if (one == 1) gains.inputs.rightCols(1).setOnes();
    gains.up.col(k).setOnes();
  }
  return all;
}

// The kernel matrix without J: with g, d per hidden layer and output, gains g_j h_i + d_j w_ji, and z = h w^T,
//   sum_ji = (G G'^T) o (H H'^T) + (G o Z) D'^T + D (G' o Z')^T + D diag |w_j|^2 D'^T.
class NetworkRows::LayerGains final : public Gains {
 public:
  struct Layer {
    std::vector<Matrix> g, d, gz;  // per output; gz = g o z
    Matrix h;
    RowMajor w;
  };

  LayerGains(const NetworkRows& model, const Vector& m, Values values) : model_(model) {
    const std::size_t last = model.shape_.layers.size() - 2;
    last_h_ = values.h.back();
    layers_.resize(last);
    for (std::size_t l = 0; l < last; ++l) layers_[l].h = values.h[l], layers_[l].w = model.weights(m, l);
    const auto w_last = model.weights(m, last);
    for (Index k = 0; k < model.outputs(); ++k) {
      Matrix up = w_last.row(k).replicate(last_h_.rows(), 1);
      for (std::size_t l = last; l-- > 0;) {
        Layer& layer = layers_[l];
        Matrix g = up.cwiseProduct(values.a[l]);
        layer.d.push_back(up.cwiseProduct(values.c[l]));
        layer.gz.push_back(g.cwiseProduct(layer.h * layer.w.transpose()));
        if (l > 0) up = g * layer.w;
        layer.g.push_back(std::move(g));
      }
    }
  }

  // The lower triangle by products of half the work, then mirrored: Z D^T + D Z^T + D diag |w|^2 D^T = B D^T + D B^T
  // with B = Z + D diag |w|^2 / 2.
  Matrix kernel(const Vector& variance) const override {
    const Index outputs = model_.outputs(), n = last_h_.rows();
    if (outputs > 1) return kernel_with(*this, variance);
    const double one = model_.shape_.bias ? 1 : 0;
    Matrix all = Matrix::Zero(n, n), inner, more;
    for (std::size_t l = 0; l < layers_.size(); ++l) {
      const Layer& a = layers_[l];
      const double v = variance(model_.first_[l]);
      inner.setConstant(n, n, one);
      inner.selfadjointView<Eigen::Lower>().rankUpdate(a.h);
      if (l > 0) more.setZero(n, n);
      Matrix& gg = l == 0 ? all : more;  // memory that was never touched takes longer to get than to fill
      gg.selfadjointView<Eigen::Lower>().rankUpdate(a.g[0], v);
      gg.triangularView<Eigen::Lower>() = gg.cwiseProduct(inner);
      if (l > 0) all.triangularView<Eigen::Lower>() += more;
      if (model_.shape_.smoothing == 0) continue;
      const Matrix b = v * (a.gz[0] + a.d[0] * (0.5 * a.w.rowwise().squaredNorm()).asDiagonal());
      all.triangularView<Eigen::Lower>() += b * a.d[0].transpose();
      all.triangularView<Eigen::Lower>() += a.d[0] * b.transpose();
    }
    all.selfadjointView<Eigen::Lower>().rankUpdate(last_h_, variance(model_.first_.back()));
    all.array() += variance(model_.first_.back()) * one;
    all.triangularView<Eigen::StrictlyUpper>() = all.transpose();
    return all;
  }

  Matrix kernel_with(const Gains& others, const Vector& variance) const override {
    const auto& other = dynamic_cast<const LayerGains&>(others);
    const Index n = last_h_.rows(), n2 = other.last_h_.rows(), outputs = model_.outputs();
    const double one = model_.shape_.bias ? 1 : 0;
    Matrix all = Matrix::Zero(n * outputs, n2 * outputs);
    for (std::size_t l = 0; l < layers_.size(); ++l) {
      const Layer &a = layers_[l], &b = other.layers_[l];
      const double v = variance(model_.first_[l]);
      const Matrix inner = (a.h * b.h.transpose()).array() + one;
      const Vector norms = a.w.rowwise().squaredNorm();
      for (std::size_t k = 0; k < a.g.size(); ++k)
        for (std::size_t k2 = 0; k2 < a.g.size(); ++k2) {
          auto block = all.block(static_cast<Index>(k) * n, static_cast<Index>(k2) * n2, n, n2);
          const Matrix gg = a.g[k] * b.g[k2].transpose();
          block += v * gg.cwiseProduct(inner);
          if (model_.shape_.smoothing == 0) continue;
          block.noalias() += v * a.gz[k] * b.d[k2].transpose();
          const Matrix right = b.gz[k2] + b.d[k2] * norms.asDiagonal();
          block.noalias() += v * a.d[k] * right.transpose();
        }
    }
    const Matrix inner = (last_h_ * other.last_h_.transpose()).array() + one;
    for (Index k = 0; k < outputs; ++k) all.block(k * n, k * n2, n, n2) += variance(model_.first_.back()) * inner;
    return all;
  }

  Vector kernel_diagonal(const Vector& variance) const override {
    const Index n = last_h_.rows(), outputs = model_.outputs();
    const double one = model_.shape_.bias ? 1 : 0;
    Vector all(n * outputs);
    for (Index k = 0; k < outputs; ++k) {
      auto part = all.segment(k * n, n).array();
      part = variance(model_.first_.back()) * (last_h_.rowwise().squaredNorm().array() + one);
      for (std::size_t l = 0; l < layers_.size(); ++l) {
        const Layer& a = layers_[l];
        const auto kk = static_cast<std::size_t>(k);
        const Vector norms = a.w.rowwise().squaredNorm();
        part += variance(model_.first_[l]) *
                (a.g[kk].rowwise().squaredNorm().array() * (a.h.rowwise().squaredNorm().array() + one) +
                 2 * a.gz[kk].cwiseProduct(a.d[kk]).rowwise().sum().array() + (a.d[kk].cwiseAbs2() * norms).array());
      }
    }
    return all;
  }

  Vector forward(const Vector& u) const override {
    const Index n = last_h_.rows(), outputs = model_.outputs();
    Vector all(n * outputs);
    const std::size_t last = layers_.size();
    for (Index k = 0; k < outputs; ++k) {
      const auto kk = static_cast<std::size_t>(k);
      const auto u_last = model_.weights(u, last);
      auto part = all.segment(k * n, n);
      part = last_h_ * u_last.row(k).transpose();
      if (model_.shape_.bias) part.array() += u(model_.first_[last] + u_last.size() + k);
      for (std::size_t l = 0; l < last; ++l) {
        const Layer& a = layers_[l];
        part += a.g[kk].cwiseProduct(model_.affine(u, l, a.h)).rowwise().sum();
        part += a.d[kk] * model_.weights(u, l).cwiseProduct(a.w).rowwise().sum();
      }
    }
    return all;
  }

  Vector backward(const Vector& e) const override {
    const Index n = last_h_.rows();
    Vector all = Vector::Zero(model_.scalars_);
    const std::size_t last = layers_.size();
    for (Index k = 0; k < model_.outputs(); ++k) {
      const auto kk = static_cast<std::size_t>(k);
      const Vector own = e.segment(k * n, n);
      const Index width = last_h_.cols();
      all.segment(model_.first_[last] + k * width, width) = last_h_.transpose() * own;
      if (model_.shape_.bias) all(model_.first_[last] + model_.outputs() * width + k) = own.sum();
      for (std::size_t l = 0; l < last; ++l) {
        const Layer& a = layers_[l];
        const Matrix weighted = a.g[kk].array().colwise() * own.array();
        Eigen::Map<RowMajor> w(all.data() + model_.first_[l], a.w.rows(), a.w.cols());
        w.noalias() += weighted.transpose() * a.h;
        w += (a.d[kk].transpose() * own).asDiagonal() * a.w;
        if (model_.shape_.bias)
          all.segment(model_.first_[l] + w.size(), w.rows()) += weighted.colwise().sum().transpose();
      }
    }
    return all;
  }

 private:
  const NetworkRows& model_;
  std::vector<Layer> layers_;
  Matrix last_h_;
};

std::unique_ptr<Gains> NetworkRows::gains(const Vector& m, const Matrix& rows, const Vector& variance,
                                          Matrix& f) const {
  for (std::size_t l = 0; l < first_.size(); ++l) {
    const Index end = l + 1 < first_.size() ? first_[l + 1] : scalars_;
    const auto layer = variance.segment(first_[l], end - first_[l]).array();
    if ((layer != layer(0)).any()) return RowModel::gains(m, rows, variance, f);
  }
  Values values = forward(m, rows, true);
  f = affine(m, first_.size() - 1, values.h.back());
  return std::make_unique<LayerGains>(*this, m, std::move(values));
}

SharedPrior NetworkRows::prior() const {
  SharedPrior prior{Vector::Zero(scalars_), Vector(scalars_)};
  for (std::size_t l = 0; l < first_.size(); ++l) {
    const Index fan_in = shape_.layers[l] + (shape_.bias ? 1 : 0);
    prior.precision.segment(first_[l], fan_in * shape_.layers[l + 1]).setConstant(static_cast<double>(fan_in));
  }
  return prior;
}

Vector NetworkRows::draw(std::uint64_t seed) const {
  boost::random::mt19937_64 random(seed);
  boost::random::normal_distribution<double> normal;
  Vector m = prior().precision.cwiseSqrt().cwiseInverse();
  for (double& value : m) value *= normal(random);
  return m;
}

}  // namespace dma
