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

void add_product(MatrixSpan sum, const MatrixView& a, const MatrixView& b, double times) {
  sum.noalias() += times * a * b;
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

void solve_lower(const MatrixView& lower, MatrixSpan x) { lower.triangularView<Eigen::Lower>().solveInPlace(x); }

}  // namespace dma
