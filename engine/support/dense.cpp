#include "engine/support/dense.h"

#include "engine/support/dense_product.h"

namespace Eigen {

template LLT<MatrixXd>& LLT<MatrixXd>::compute<MatrixXd>(const EigenBase<MatrixXd>&);
template LDLT<MatrixXd>& LDLT<MatrixXd>::compute<MatrixXd>(const EigenBase<MatrixXd>&);
template void PartialPivLU<MatrixXd>::compute();
template void HouseholderQR<MatrixXd>::computeInPlace();
template SelfAdjointEigenSolver<MatrixXd>& SelfAdjointEigenSolver<MatrixXd>::compute<MatrixXd>(
    const EigenBase<MatrixXd>&, int);
template SelfAdjointEigenSolver<MatrixXd>& SelfAdjointEigenSolver<MatrixXd>::computeFromTridiagonal(
    const RealVectorType&, const SubDiagonalType&, int);

}  // namespace Eigen

namespace dma {

namespace {

using Eigen::Index;

// Triangles up to this size are solved by Eigen; larger ones are halved, so that nearly all is products.
constexpr Index kSmallTriangle = 16;

StridedMatrix as_is(const MatrixView& a) { return {a.data(), 1, a.outerStride()}; }
StridedMatrix transposed(const MatrixView& a) { return {a.data(), a.outerStride(), 1}; }

// False: the product is too small to gain, or this processor has no level; nothing is done.
bool added(MatrixSpan sum, const StridedMatrix& a, const StridedMatrix& b, Index depth, double times,
           bool lower_only = false) {
  constexpr Index kFewest = 4, kFewestProducts = 5000;
  if (sum.cols() < kFewest || sum.rows() < kFewest || sum.size() * depth < kFewestProducts) return false;
  const ProductLevel* const level = product_level();
  if (level) level->add({sum.rows(), sum.cols(), depth, a, b, times, sum.data(), sum.outerStride(), lower_only});
  return level;
}

bool is_small(const MatrixView& lower) { return lower.rows() <= kSmallTriangle || !product_level(); }

// [a 0; b c], a of about half the size.
struct Halves {
  explicit Halves(const MatrixView& lower)
      : first((lower.rows() / 2 + 7) / 8 * 8),
        rest(lower.rows() - first),
        a(lower.topLeftCorner(first, first)),
        b(lower.bottomLeftCorner(rest, first)),
        c(lower.bottomRightCorner(rest, rest)) {}
  Index first, rest;
  MatrixView a, b, c;
};

}  // namespace

Eigen::MatrixXd product_of(const MatrixView& a, const MatrixView& b) {
  Eigen::MatrixXd product = Eigen::MatrixXd::Zero(a.rows(), b.cols());
  add_product(product, a, b);
  return product;
}
Eigen::MatrixXd product_by_transposed(const MatrixView& a, const MatrixView& b) {
  Eigen::MatrixXd product = Eigen::MatrixXd::Zero(a.rows(), b.rows());
  add_product_by_transposed(product, a, b);
  return product;
}
Eigen::MatrixXd transposed_product(const MatrixView& a, const MatrixView& b) {
  Eigen::MatrixXd product = Eigen::MatrixXd::Zero(a.cols(), b.cols());
  add_transposed_product(product, a, b);
  return product;
}

Eigen::VectorXd times(const MatrixView& a, const VectorView& x, double by) { return by * a * x; }
Eigen::VectorXd transposed_times(const MatrixView& a, const VectorView& x) { return a.transpose() * x; }
Eigen::MatrixXd scaled_rows(const VectorView& by, const MatrixView& a) { return by.asDiagonal() * a; }
Eigen::MatrixXd scaled_columns(const MatrixView& a, const VectorView& by) { return a * by.asDiagonal(); }
Eigen::VectorXd squared_columns(const MatrixView& a) { return a.colwise().squaredNorm(); }
Eigen::VectorXd row_products(const MatrixView& a, const MatrixView& b) { return a.cwiseProduct(b).rowwise().sum(); }
double sum_of_logs(const VectorView& x) { return x.array().log().sum(); }
double log_diagonal(const MatrixView& a) { return a.diagonal().array().log().sum(); }

void add_product(MatrixSpan sum, const MatrixView& a, const MatrixView& b, double times) {
  if (!added(sum, as_is(a), as_is(b), a.cols(), times)) sum.noalias() += times * a * b;
}
void add_times(Eigen::VectorXd& sum, const MatrixView& a, const VectorView& x, double times) {
  sum.noalias() += times * a * x;
}
void add_product_by_transposed(MatrixSpan sum, const MatrixView& a, const MatrixView& b, double times) {
  if (!added(sum, as_is(a), transposed(b), a.cols(), times)) sum.noalias() += times * a * b.transpose();
}
void add_transposed_product(MatrixSpan sum, const MatrixView& a, const MatrixView& b, double times) {
  if (!added(sum, transposed(a), as_is(b), a.rows(), times)) sum.noalias() += times * a.transpose() * b;
}
void add_lower_product_by_transposed(MatrixSpan sum, const MatrixView& a, const MatrixView& b) {
  if (!added(sum, as_is(a), transposed(b), a.cols(), 1, true)) sum.triangularView<Eigen::Lower>() += a * b.transpose();
}
void add_square(MatrixSpan sum, const MatrixView& a, double times) {
  if (!added(sum, as_is(a), transposed(a), a.cols(), times, true))
    sum.selfadjointView<Eigen::Lower>().rankUpdate(a, times);
}
void add_transposed_square(MatrixSpan sum, const MatrixView& a) {
  if (!added(sum, transposed(a), as_is(a), a.rows(), 1, true))
    sum.selfadjointView<Eigen::Lower>().rankUpdate(a.transpose());
}

bool factorise_lower(MatrixSpan a) {
  if (is_small(a)) return Eigen::internal::llt_inplace<double, Eigen::Lower>::blocked(a) < 0;
  const Halves halves(a);
  const MatrixSpan below = a.bottomLeftCorner(halves.rest, halves.first),
                   last = a.bottomRightCorner(halves.rest, halves.rest);
  if (!factorise_lower(a.topLeftCorner(halves.first, halves.first))) return false;
  solve_lower_from_right(halves.a, below);
  add_square(last, below, -1);
  return factorise_lower(last);
}
void solve_lower(const MatrixView& lower, MatrixSpan x) {
  if (is_small(lower)) return lower.triangularView<Eigen::Lower>().solveInPlace(x);
  const Halves halves(lower);
  solve_lower(halves.a, x.topRows(halves.first));
  add_product(x.bottomRows(halves.rest), halves.b, x.topRows(halves.first), -1);
  solve_lower(halves.c, x.bottomRows(halves.rest));
}
void solve_lower(const MatrixView& lower, Eigen::VectorXd& x) { lower.triangularView<Eigen::Lower>().solveInPlace(x); }
void solve_lower_transposed(const MatrixView& lower, MatrixSpan x) {
  if (is_small(lower)) return lower.triangularView<Eigen::Lower>().transpose().solveInPlace(x);
  const Halves halves(lower);
  solve_lower_transposed(halves.c, x.bottomRows(halves.rest));
  add_transposed_product(x.topRows(halves.first), halves.b, x.bottomRows(halves.rest), -1);
  solve_lower_transposed(halves.a, x.topRows(halves.first));
}
void solve_lower_transposed(const MatrixView& lower, Eigen::VectorXd& x) {
  lower.triangularView<Eigen::Lower>().transpose().solveInPlace(x);
}
void solve_lower_from_right(const MatrixView& lower, MatrixSpan x) {
  if (is_small(lower)) return lower.triangularView<Eigen::Lower>().transpose().solveInPlace<Eigen::OnTheRight>(x);
  const Halves halves(lower);
  solve_lower_from_right(halves.a, x.leftCols(halves.first));
  add_product_by_transposed(x.rightCols(halves.rest), x.leftCols(halves.first), halves.b, -1);
  solve_lower_from_right(halves.c, x.rightCols(halves.rest));
}
void solve_by_factor(const MatrixView& lower, Eigen::VectorXd& x) {
  solve_lower(lower, x);
  solve_lower_transposed(lower, x);
}
Eigen::MatrixXd unit_lower_inverse(const MatrixView& lower) {
  Eigen::MatrixXd inverse = Eigen::MatrixXd::Identity(lower.rows(), lower.rows());
  lower.triangularView<Eigen::UnitLower>().solveInPlace(inverse);
  return inverse;
}
void mirror_lower(Eigen::MatrixXd& a) { a.triangularView<Eigen::StrictlyUpper>() = a.transpose(); }

}  // namespace dma
