// With K = S^(-1/2) J Lambda^-1 J^T S^(-1/2) and J~ = S^(-1/2) J, all of Curvature by matrices over rows:
//   (Lambda (1 + mu) + J~^T J~)^-1 g = (u - Lambda^-1 J~^T (K + (1 + mu) I)^-1 J~ u) / (1 + mu),  u = Lambda^-1 g
//   log |L| - log |Lambda| = log |I + K|,  fractions of others = diag (I + K)^-1.
#include <boost/random/mersenne_twister.hpp>
#include <cmath>

#include "engine/learn/gaussian/curvature/curvature.h"
#include "engine/support/dense.h"

namespace dma {

namespace {

class DualCurvature final : public Curvature {
 public:
  void assemble(const RowModel& model, const RowData& data, const Vector& m, const Vector& lambda,
                const Vector& noise) override {
    model_ = &model, m_ = m, lambda_ = lambda;
    variance_ = lambda.cwiseInverse();
    weight_ = noise.cwiseSqrt().cwiseInverse();
    Matrix f;
    gains_ = model.gains(m, data.rows, variance_, f);
    residuals_ = (data.targets - f).reshaped();
    kernel_ = gains_->kernel(variance_);
    for (Index j = 0; j < kernel_.cols(); ++j) kernel_.col(j) = weight_.cwiseProduct(kernel_.col(j)) * weight_(j);
    gradient_ = gains_->backward(weight_.cwiseAbs2().cwiseProduct(residuals_));
    factored_ = inverted_ = false;
  }

  Vector step(const Vector& g, double mu) override {
    const Vector u = variance_.cwiseProduct(g);
    Vector e = weight_.cwiseProduct(gains_->forward(u));
    if (mu == 0)
      solve_by_factor(factor(), e);
    else
      solve_by_factor(safe_factor(kernel_, Vector::Constant(kernel_.rows(), 1 + mu), pool()), e);
    return (u - variance_.cwiseProduct(gains_->backward(weight_.cwiseProduct(e)))) / (1 + mu);
  }

  double log_determinant_gain() override { return 2 * log_diagonal(factor()); }
  double effective_scalars() override { return (1 - one_minus_leverage().array()).sum(); }

  // diag(Lambda^-1 J~^T (I + K)^-1 J~) = the mean over z of (Lambda^-1/2 J~^T C^-T z)^2 with C C^T = I + K, over all
  // unit vectors or over as many vectors of random signs (Hutchinson).
  Vector determined() override {
    constexpr Index kProbes = 64, kFewRows = 128;
    const Index n = kernel_.rows(), probes = n <= kFewRows ? n : kProbes;
    Matrix z = Matrix::Identity(n, probes);
    if (probes < n) {
      boost::random::mt19937_64 random(1);
      const double size = 1 / std::sqrt(static_cast<double>(probes));
      for (double& sign : z.reshaped()) sign = (random() & 1) != 0 ? size : -size;
    }
    solve_lower_transposed(factor(), z);
    Vector sum = Vector::Zero(lambda_.size());
    for (Index k = 0; k < probes; ++k) sum += gains_->backward(weight_.cwiseProduct(z.col(k))).cwiseAbs2();
    return variance_.cwiseProduct(sum);
  }

  Vector one_minus_leverage() override {
    if (!inverted_) fractions_ = squared_columns(triangular_inverse(factor(), pool()));
    inverted_ = true;
    return fractions_;
  }

  Vector variances(const Matrix& rows) override {
    Matrix f;
    const auto other = model_->gains(m_, rows, variance_, f);
    Matrix cross = scaled_rows(weight_, gains_->kernel_with(*other, variance_));
    const Vector prior = other->kernel_diagonal(variance_);
    solve_lower(factor(), cross);
    return (prior - squared_columns(cross)).cwiseMax(0.0);
  }

 private:
  const Matrix& factor() {
    if (factored_) return factor_;
    factor_ = safe_factor(kernel_, Vector::Ones(kernel_.rows()), pool());
    factored_ = true;
    return factor_;
  }

  const RowModel* model_ = nullptr;
  Vector m_, lambda_, variance_, weight_, fractions_;
  std::unique_ptr<Gains> gains_;
  Matrix kernel_, factor_;
  bool factored_ = false, inverted_ = false;
};

}  // namespace

std::unique_ptr<Curvature> make_dual() { return std::make_unique<DualCurvature>(); }

}  // namespace dma
