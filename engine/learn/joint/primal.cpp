#include <algorithm>
#include <cmath>

#include "engine/learn/joint/curvature.h"

namespace dma {

namespace {

constexpr Index kLargestKeptGains = Index{1} << 25;  // 256 MB; above, rows are linearised again

class PrimalCurvature final : public Curvature {
 public:
  void assemble(const RowModel& model, const RowData& data, const Vector& m, const Vector& lambda,
                const Vector& noise) override {
    model_ = &model, data_ = &data, m_ = m, lambda_ = lambda, noise_ = noise;
    factored_ = false;
    information_.setZero(m.size(), m.size());
    gradient_.setZero(m.size());
    residuals_.resize(data.count());
    keep_ = data.count() * m.size() <= kLargestKeptGains;
    kept_.clear();
    for_blocks([&](Index begin, const Matrix& f, Matrix& gains) {
      const Index n = f.rows(), all = data_->rows.rows();
      Vector scaled(n * f.cols());
      for (Index k = 0; k < f.cols(); ++k) {
        residuals_.segment(k * all + begin, n) = data.targets.col(k).segment(begin, n) - f.col(k);
        const auto s = noise.segment(k * all + begin, n).array().sqrt();
        scaled.segment(k * n, n) = residuals_.segment(k * all + begin, n).array() / s;
        gains.middleRows(k * n, n).array().colwise() /= s;
      }
      information_.selfadjointView<Eigen::Lower>().rankUpdate(gains.transpose());
      gradient_.noalias() += gains.transpose() * scaled;
      if (keep_) kept_.push_back(std::move(gains));
    });
    information_.diagonal() += lambda;
  }

  Vector step(const Vector& g, double mu) override {
    if (mu == 0) return factor().solve(g);
    Matrix damped = information_;
    damped.diagonal() += mu * lambda_;
    return Eigen::LLT<Eigen::Ref<Matrix>>(damped).solve(g);
  }

  double log_determinant_gain() override {
    return 2 * factor().matrixLLT().diagonal().array().log().sum() - lambda_.array().log().sum();
  }

  double effective_scalars() override {
    const Matrix inverse = triangular_inverse(factor().matrixLLT());
    return static_cast<double>(lambda_.size()) - (inverse * lambda_.cwiseSqrt().asDiagonal()).squaredNorm();
  }

  Vector shares_of_others() override {
    Vector all(data_->count());
    const auto put = [&](Index begin, Index n, const Matrix& scaled_gains) {
      const Vector share = (1 - squared_solutions(scaled_gains).array()).max(1e-12);
      for (Index k = 0; k * n < share.size(); ++k)
        all.segment(k * data_->rows.rows() + begin, n) = share.segment(k * n, n);
    };
    const Index outputs = data_->targets.cols();
    if (keep_) {
      Index begin = 0;
      for (const Matrix& gains : kept_) {
        put(begin, gains.rows() / outputs, gains);
        begin += gains.rows() / outputs;
      }
      return all;
    }
    for_blocks([&](Index begin, const Matrix& f, Matrix& gains) {
      for (Index k = 0; k < f.cols(); ++k)
        gains.middleRows(k * f.rows(), f.rows()).array().colwise() /=
            noise_.segment(k * data_->rows.rows() + begin, f.rows()).array().sqrt();
      put(begin, f.rows(), gains);
    });
    return all;
  }

  Vector variances(const Matrix& rows) override {
    Matrix f, gains;
    model_->linearise(m_, rows, f, gains);
    return squared_solutions(gains);
  }

  Matrix precision_factor() override { return factor().matrixL(); }

 private:
  template <class Use>
  void for_blocks(const Use& use) const {
    Matrix f, gains;
    const Index all = data_->rows.rows();
    for (Index begin = 0; begin < all; begin += kRowsPerBlock) {
      model_->linearise(m_, data_->rows.middleRows(begin, std::min(kRowsPerBlock, all - begin)), f, gains);
      use(begin, f, gains);
    }
  }

  const Eigen::LLT<Matrix>& factor() {
    if (!factored_) factor_.compute(information_);
    factored_ = true;
    return factor_;
  }

  // |C^-1 a|^2 for every row a.
  Vector squared_solutions(const Matrix& gains) {
    Matrix solved = gains.transpose();
    factor().matrixL().solveInPlace(solved);
    return solved.colwise().squaredNorm();
  }

  const RowModel* model_ = nullptr;
  const RowData* data_ = nullptr;
  Vector m_, lambda_, noise_;
  Matrix information_;
  Eigen::LLT<Matrix> factor_;
  bool factored_ = false, keep_ = false;
  std::vector<Matrix> kept_;
};

}  // namespace

std::unique_ptr<Curvature> make_primal() { return std::make_unique<PrimalCurvature>(); }

Matrix triangular_inverse(const Matrix& lower) {
  constexpr Index kColumns = 64;
  const Index size = lower.rows();
  Matrix inverse = Matrix::Zero(size, size);
  for (Index j = 0; j < size; j += kColumns) {
    const Index columns = std::min(kColumns, size - j), rows = size - j;
    auto part = inverse.block(j, j, rows, columns);
    part.topRows(columns).setIdentity();
    lower.bottomRightCorner(rows, rows).triangularView<Eigen::Lower>().solveInPlace(part);
  }
  return inverse;
}

}  // namespace dma
