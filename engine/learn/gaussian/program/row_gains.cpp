// Gains of a row program without J: unit by unit, and as a kernel matrix.
#include "engine/learn/gaussian/program/row_steps.h"
#include "engine/support/dense.h"

namespace dma {

namespace {

// Scalars that no recognised step has, and the column of each among them; -1 for the others.
struct Rest {
  std::vector<Index> scalars, column_of;
  template <class Taken>
  Rest(const RowCode& code, const Taken& is_taken) : column_of(static_cast<std::size_t>(code.scalars), 0) {
    for (const RowStep& step : code.steps)
      if (const auto* affine = std::get_if<AffineStep>(&step); affine != nullptr && is_taken(*affine)) {
        std::fill_n(column_of.begin() + affine->weights, affine->rows * affine->columns, Index{-1});
        if (affine->bias >= 0) std::fill_n(column_of.begin() + affine->bias, affine->rows, Index{-1});
      }
    for (std::size_t i = 0; i < column_of.size(); ++i)
      if (column_of[i] == 0)
        column_of[i] = static_cast<Index>(scalars.size()), scalars.push_back(static_cast<Index>(i));
  }
};

// J of all outputs, of those scalars alone.
Matrix dense_gains(const RowPass& pass, const std::vector<RowAdjoint>& adjoints, const Rest& rest) {
  const Index n = pass.count();
  Matrix gains(n * static_cast<Index>(adjoints.size()), static_cast<Index>(rest.scalars.size()));
  for (std::size_t k = 0; k < adjoints.size() && gains.cols() > 0; ++k)
    pass.write_gains(adjoints[k], static_cast<Index>(k), rest.column_of,
                     gains.middleRows(static_cast<Index>(k) * n, n));
  return gains;
}

std::vector<RowAdjoint> all_adjoints(const RowPass& pass, Index outputs) {
  std::vector<RowAdjoint> adjoints;
  for (Index k = 0; k < outputs; ++k) adjoints.push_back(pass.backward(k));
  return adjoints;
}

// A step's share of a kernel matrix. With g = df/dz, e = 2 df/dv and u = W diag(noise of h), gains are g_j h_i + e_j
// u_ji and
//   sum over ji of gains gains' = (g g'^T) o (h h'^T) + (g o h u^T) e'^T + e (g' o h' u^T)^T + e diag|u_j|^2 e'^T.
// A weight of input i may have r_i times the variance of the first one's: h_i and u_ji are multiplied by its root then.
struct Layer {
  const AffineStep* step;
  Vector roots;  // roots of r_i
  double one;    // variance of the biases, in ratio to the first weight's; 0: there are none
  Matrix h;      // times roots, as u is
  Vector norms;                                 // |u_j|^2; empty: no noise
  std::vector<Matrix> g = {}, e = {}, gz = {};  // by output, its live rows alone; gz = g o h u^T
  RowPass::RowMajor u = {};
  bool is_direct = false;  // every output is one result: g = 1

  bool is_noisy() const { return norms.size() > 0; }
  ColumnRange live(Index k) const { return step->live[static_cast<std::size_t>(k)]; }
  const Matrix& of(const std::vector<Matrix>& all, Index k) const { return all[static_cast<std::size_t>(k)]; }
};

class ProgramGains final : public Gains {
 public:
  ProgramGains(std::shared_ptr<const RowCode> code, const RowPass& pass, const Vector& variance)
      : code_(std::move(code)),
        rest_(*code_, [&](const AffineStep& step) { return is_even(step, variance); }),
        n_(pass.count()) {
    const std::vector<RowAdjoint> adjoints = all_adjoints(pass, outputs());
    dense_ = dense_gains(pass, adjoints, rest_);
    for (const RowStep& step : code_->steps)
      if (const auto* affine = std::get_if<AffineStep>(&step); affine != nullptr && is_even(*affine, variance))
        add_layer(*affine, pass, adjoints, variance);
  }

  // The lower triangle by products of half the work, then mirrored: z e^T + e z^T + e diag|u|^2 e^T = b e^T + e b^T
  // with b = z + e diag|u|^2 / 2.
  Matrix kernel(const Vector& variance) const override {
    if (outputs() > 1) return kernel_with(*this, variance);
    Matrix all = Matrix::Zero(n_, n_), inner, more;
    bool is_first = true;
    for (const Layer& a : layers_) {
      const double v = variance(a.step->weights);
      if (a.is_direct) {
        add_square(all, a.h, v);
        all.array() += v * a.one;
        is_first = false;
        continue;
      }
      inner.setConstant(n_, n_, a.one);
      add_square(inner, a.h);
      if (!is_first) more.setZero(n_, n_);
      Matrix& gg = is_first ? all : more;  // memory that was never touched takes longer to get than to fill
      add_square(gg, a.g[0], v);
      gg.triangularView<Eigen::Lower>() = gg.cwiseProduct(inner);
      if (!is_first) all.triangularView<Eigen::Lower>() += more;
      is_first = false;
      if (!a.is_noisy()) continue;
      const ColumnRange live = a.live(0);
      const Matrix b = v * (a.gz[0] + a.e[0] * (0.5 * a.norms.segment(live.begin, live.size())).asDiagonal());
      add_lower_product_by_transposed(all, b, a.e[0]);
      add_lower_product_by_transposed(all, a.e[0], b);
    }
    if (dense_.cols() > 0) {
      add_square(all, scaled_columns(dense_, variance(rest_.scalars).cwiseSqrt()));
    }
    mirror_lower(all);
    return all;
  }

  Matrix kernel_with(const Gains& others, const Vector& variance) const override {
    const auto& other = dynamic_cast<const ProgramGains&>(others);
    const Index n2 = other.n_;
    Matrix all = Matrix::Zero(n_ * outputs(), n2 * outputs());
    for (std::size_t l = 0; l < layers_.size(); ++l) {
      const Layer &a = layers_[l], &b = other.layers_[l];
      const double v = variance(a.step->weights);
      const Matrix inner = product_by_transposed(a.h, b.h).array() + a.one;
      for (Index k = 0; k < outputs(); ++k)
        for (Index k2 = 0; k2 < outputs(); ++k2) {
          const ColumnRange both{std::max(a.live(k).begin, a.live(k2).begin), std::min(a.live(k).end, a.live(k2).end)};
          if (both.size() == 0) continue;
          auto block = all.block(k * n_, k2 * n2, n_, n2);
          const auto own = [&](const Matrix& m) { return m.middleCols(both.begin - a.live(k).begin, both.size()); };
          const auto its = [&](const Matrix& m) { return m.middleCols(both.begin - a.live(k2).begin, both.size()); };
          const Matrix gg = product_by_transposed(own(a.of(a.g, k)), its(b.of(b.g, k2)));
          block += v * gg.cwiseProduct(inner);
          if (!a.is_noisy()) continue;
          add_product_by_transposed(block, own(a.of(a.gz, k)), its(b.of(b.e, k2)), v);
          const Matrix right =
              its(b.of(b.gz, k2)) + its(b.of(b.e, k2)) * a.norms.segment(both.begin, both.size()).asDiagonal();
          add_product_by_transposed(block, own(a.of(a.e, k)), right, v);
        }
    }
    if (dense_.cols() > 0)
      add_product_by_transposed(all, scaled_columns(dense_, variance(rest_.scalars)), other.dense_);
    return all;
  }

  Vector kernel_diagonal(const Vector& variance) const override {
    Vector all = dense_.cwiseAbs2() * variance(rest_.scalars);
    for (const Layer& a : layers_)
      for (Index k = 0; k < outputs(); ++k) {
        if (a.live(k).size() == 0) continue;
        auto part = all.segment(k * n_, n_).array();
        const double v = variance(a.step->weights);
        part += v * a.of(a.g, k).rowwise().squaredNorm().array() * (a.h.rowwise().squaredNorm().array() + a.one);
        if (!a.is_noisy()) continue;
        const Matrix& e = a.of(a.e, k);
        part += v * (2 * a.of(a.gz, k).cwiseProduct(e).rowwise().sum() +
                     e.cwiseAbs2() * a.norms.segment(a.live(k).begin, a.live(k).size()))
                        .array();
      }
    return all;
  }

  Vector forward(const Vector& scalars) const override {
    Vector all = times(dense_, scalars(rest_.scalars));
    for (const Layer& a : layers_) {
      const RowPass::RowMajor w =
          Eigen::Map<const RowPass::RowMajor>(scalars.data() + a.step->weights, a.step->rows, a.step->columns) *
          a.roots.cwiseInverse().asDiagonal();
      Matrix z = product_of(a.h, Eigen::Map<const Matrix>(w.data(), w.cols(), w.rows()));
      if (a.step->bias >= 0) z.rowwise() += scalars.segment(a.step->bias, a.step->rows).transpose();
      Vector by_variance;
      if (a.is_noisy()) by_variance = w.cwiseProduct(a.u).rowwise().sum();
      for (Index k = 0; k < outputs(); ++k) {
        const ColumnRange live = a.live(k);
        if (live.size() == 0) continue;
        auto part = all.segment(k * n_, n_);
        part += a.of(a.g, k).cwiseProduct(z.middleCols(live.begin, live.size())).rowwise().sum();
        if (a.is_noisy()) part += a.of(a.e, k) * by_variance.segment(live.begin, live.size());
      }
    }
    return all;
  }

  Vector backward(const Vector& outputs_gain) const override {
    Vector all = Vector::Zero(code_->scalars);
    all(rest_.scalars) = transposed_times(dense_, outputs_gain);
    for (const Layer& a : layers_) {
      Eigen::Map<RowPass::RowMajor> w(all.data() + a.step->weights, a.step->rows, a.step->columns);
      for (Index k = 0; k < outputs(); ++k) {
        const ColumnRange live = a.live(k);
        if (live.size() == 0) continue;
        const Vector own = outputs_gain.segment(k * n_, n_);
        const Matrix weighted = scaled_rows(own, a.of(a.g, k));
        auto rows = w.middleRows(live.begin, live.size());
        add_transposed_product(Eigen::Map<Matrix>(rows.data(), rows.cols(), rows.rows()), a.h, weighted);
        if (a.is_noisy())
          rows += (a.of(a.e, k).transpose() * own).asDiagonal() * a.u.middleRows(live.begin, live.size());
        if (a.step->bias >= 0)
          all.segment(a.step->bias + live.begin, live.size()) += weighted.colwise().sum().transpose();
      }
      w *= a.roots.cwiseInverse().asDiagonal();
    }
    return all;
  }

 private:
  Index outputs() const { return static_cast<Index>(code_->outputs.size()); }

  static bool is_even(const AffineStep& step, const Vector& variance) {
    if (!step.owns_scalars) return false;
    for (Index j = 1; j < step.rows; ++j)
      if (variance.segment(step.weights + j * step.columns, step.columns) !=
          variance.segment(step.weights, step.columns))
        return false;
    return step.bias < 0 || (variance.segment(step.bias, step.rows).array() == variance(step.bias)).all();
  }

  void add_layer(const AffineStep& step, const RowPass& pass, const std::vector<RowAdjoint>& adjoints,
                 const Vector& variance) {
    const double v = variance(step.weights);
    const Vector roots = (variance.segment(step.weights, step.columns) / v).cwiseSqrt();
    Layer layer{.step = &step,
                .roots = roots,
                .one = step.bias >= 0 ? variance(step.bias) / v : 0,
                .h = scaled_columns(pass.columns(step.h, step.columns), roots),
                .norms = {}};
    Matrix z;
    if (step.noise >= 0) {
      layer.u = pass.weights(step) * pass.noise().segment(step.h.noise, step.columns).cwiseProduct(roots).asDiagonal();
      layer.norms = layer.u.rowwise().squaredNorm();
      z = product_by_transposed(layer.h, layer.u);
    }
    layer.is_direct = step.noise < 0;
    for (std::size_t k = 0; k < adjoints.size(); ++k) {
      const ColumnRange live = step.live[k];
      layer.g.push_back(adjoints[k].computed.middleCols(step.out + live.begin, live.size()));
      layer.is_direct = layer.is_direct && live.size() == 1 && (layer.g.back().array() == 1).all();
      if (step.noise < 0) continue;
      layer.e.push_back(2 * adjoints[k].noise.middleCols(step.noise + live.begin, live.size()));
      layer.gz.push_back(layer.g.back().cwiseProduct(z.middleCols(live.begin, live.size())));
    }
    layers_.push_back(std::move(layer));
  }

  std::shared_ptr<const RowCode> code_;
  Rest rest_;
  Index n_;
  Matrix dense_;
  std::vector<Layer> layers_;
};

}  // namespace

std::unique_ptr<Gains> RowProgram::gains(const Vector& m, const Matrix& rows, const Vector& variance, Matrix& f) const {
  const RowPass pass(*code_, m, rows, true);
  f = pass.outputs();
  return std::make_unique<ProgramGains>(code_, pass, variance);
}

// With noise, z and its variance both change with a weight. Where one function g alone reads them, the gain of weight i
// is that function's, times g' h_i + 2 dE[g]/dv w_i v_i.
std::vector<UnitGains> RowProgram::units(const Vector& m, const Matrix& rows, Matrix& f) const {
  const RowPass pass(*code_, m, rows, true);
  f = pass.outputs();
  const Index n = rows.rows();
  const std::vector<RowAdjoint> adjoints = all_adjoints(pass, outputs());
  const auto has_units = [](const AffineStep& step) {
    return step.owns_scalars && (step.noise < 0 || step.function >= 0);
  };
  std::vector<UnitGains> all, of_outputs;
  for (std::size_t i = code_->steps.size(); i-- > 0;) {
    const auto* step = std::get_if<AffineStep>(&code_->steps[i]);
    if (step == nullptr || !has_units(*step)) continue;
    const auto h = pass.columns(step->h, step->columns);
    const auto w = pass.weights(*step);
    const Index one = step->bias >= 0 ? 1 : 0;
    bool is_output = false;
    for (const RowPlace& output : code_->outputs)
      is_output |= output.in == RowPlace::In::computed && output.at >= step->out && output.at < step->out + step->rows;
    for (Index j = 0; j < step->rows; ++j) {
      UnitGains& unit = (is_output ? of_outputs : all).emplace_back();
      for (Index c = 0; c < step->columns; ++c) unit.scalars.push_back(step->weights + j * step->columns + c);
      if (one == 1) unit.scalars.push_back(step->bias + j);
      unit.inputs.resize(n, step->columns + one);
      Index seen = step->out + j;  // the column that outputs see the unit through
      if (step->noise >= 0) {
        const auto gain = pass.gain(step->function, 0, j), by_variance = pass.gain(step->function, 0, j, true);
        const Eigen::RowVectorXd wv =
            2 * w.row(j).cwiseProduct(pass.noise().segment(step->h.noise, step->columns).transpose());
        unit.inputs.leftCols(step->columns) = h.array().colwise() * gain.array();
        unit.inputs.leftCols(step->columns).noalias() += by_variance * wv;
        if (one == 1) unit.inputs.col(step->columns) = gain;
        seen = std::get<FunctionStep>(code_->steps[static_cast<std::size_t>(step->function)]).out + j;
      } else {
        unit.inputs.leftCols(step->columns) = h;
        if (one == 1) unit.inputs.col(step->columns).setOnes();
      }
      unit.up.resize(n, outputs());
      for (Index k = 0; k < outputs(); ++k) unit.up.col(k) = adjoints[static_cast<std::size_t>(k)].computed.col(seen);
    }
  }
  std::ranges::move(of_outputs, std::back_inserter(all));
  const Rest rest(*code_, has_units);
  const Matrix dense = dense_gains(pass, adjoints, rest);
  for (std::size_t i = 0; i < rest.scalars.size(); ++i)
    all.push_back({{rest.scalars[i]}, Matrix::Ones(n, 1), dense.col(static_cast<Index>(i)).reshaped(n, outputs())});
  return all;
}

}  // namespace dma
