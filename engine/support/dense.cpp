#include "engine/support/dense.h"

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

Eigen::MatrixXd product_of(const MatrixView& a, const MatrixView& b) { return a * b; }
Eigen::MatrixXd product_by_transposed(const MatrixView& a, const MatrixView& b) { return a * b.transpose(); }
Eigen::MatrixXd transposed_product(const MatrixView& a, const MatrixView& b) { return a.transpose() * b; }

Eigen::VectorXd times(const MatrixView& a, const VectorView& x, double by) { return by * a * x; }
Eigen::VectorXd transposed_times(const MatrixView& a, const VectorView& x) { return a.transpose() * x; }
Eigen::MatrixXd scaled_rows(const VectorView& by, const MatrixView& a) { return by.asDiagonal() * a; }
Eigen::MatrixXd scaled_columns(const MatrixView& a, const VectorView& by) { return a * by.asDiagonal(); }
Eigen::VectorXd squared_columns(const MatrixView& a) { return a.colwise().squaredNorm(); }
Eigen::VectorXd row_products(const MatrixView& a, const MatrixView& b) { return a.cwiseProduct(b).rowwise().sum(); }
double sum_of_logs(const VectorView& x) { return x.array().log().sum(); }
double log_diagonal(const MatrixView& a) { return a.diagonal().array().log().sum(); }

void add_product(MatrixSpan sum, const MatrixView& a, const MatrixView& b, double times) {
  sum.noalias() += times * a * b;
}
void add_times(Eigen::VectorXd& sum, const MatrixView& a, const VectorView& x, double times) {
  sum.noalias() += times * a * x;
}
void add_product_by_transposed(MatrixSpan sum, const MatrixView& a, const MatrixView& b, double times) {
  sum.noalias() += times * a * b.transpose();
}
void add_transposed_product(MatrixSpan sum, const MatrixView& a, const MatrixView& b, double times) {
  sum.noalias() += times * a.transpose() * b;
}
void add_lower_product_by_transposed(MatrixSpan sum, const MatrixView& a, const MatrixView& b) {
  sum.triangularView<Eigen::Lower>() += a * b.transpose();
}
void add_square(MatrixSpan sum, const MatrixView& a, double times) {
  sum.selfadjointView<Eigen::Lower>().rankUpdate(a, times);
}
void add_transposed_square(MatrixSpan sum, const MatrixView& a) {
  sum.selfadjointView<Eigen::Lower>().rankUpdate(a.transpose());
}

bool factorise_lower(MatrixSpan a) { return Eigen::internal::llt_inplace<double, Eigen::Lower>::blocked(a) < 0; }
void solve_lower(const MatrixView& lower, MatrixSpan x) { lower.triangularView<Eigen::Lower>().solveInPlace(x); }
void solve_lower(const MatrixView& lower, Eigen::VectorXd& x) { lower.triangularView<Eigen::Lower>().solveInPlace(x); }
void solve_lower_transposed(const MatrixView& lower, MatrixSpan x) {
  lower.triangularView<Eigen::Lower>().transpose().solveInPlace(x);
}
void solve_lower_transposed(const MatrixView& lower, Eigen::VectorXd& x) {
  lower.triangularView<Eigen::Lower>().transpose().solveInPlace(x);
}
void solve_lower_from_right(const MatrixView& lower, MatrixSpan x) {
  lower.triangularView<Eigen::Lower>().transpose().solveInPlace<Eigen::OnTheRight>(x);
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
