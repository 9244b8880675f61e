// Products of dense matrices and solutions with triangles as plain functions, compiled once. Written as an expression,
// a product of matrices is compiled anew for every combination of operand types, a second or two each.
// Decompositions of an Eigen::MatrixXd (not of an expression) are compiled once too: one to six seconds each.
#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/QR>

namespace Eigen {

extern template LLT<MatrixXd>& LLT<MatrixXd>::compute<MatrixXd>(const EigenBase<MatrixXd>&);
extern template LDLT<MatrixXd>& LDLT<MatrixXd>::compute<MatrixXd>(const EigenBase<MatrixXd>&);
extern template void PartialPivLU<MatrixXd>::compute();
extern template void HouseholderQR<MatrixXd>::computeInPlace();
extern template SelfAdjointEigenSolver<MatrixXd>& SelfAdjointEigenSolver<MatrixXd>::compute<MatrixXd>(
    const EigenBase<MatrixXd>&, int);
extern template SelfAdjointEigenSolver<MatrixXd>& SelfAdjointEigenSolver<MatrixXd>::computeFromTridiagonal(
    const RealVectorType&, const SubDiagonalType&, int);

}  // namespace Eigen

namespace dma {

using MatrixView = Eigen::Ref<const Eigen::MatrixXd>;
using MatrixSpan = Eigen::Ref<Eigen::MatrixXd>;

Eigen::MatrixXd product_of(const MatrixView& a, const MatrixView& b);             // a b
Eigen::MatrixXd product_by_transposed(const MatrixView& a, const MatrixView& b);  // a b^T
Eigen::MatrixXd transposed_product(const MatrixView& a, const MatrixView& b);     // a^T b

// `sum` gains the product, so many times. It shares no memory with the operands.
void add_product(MatrixSpan sum, const MatrixView& a, const MatrixView& b, double times = 1);
void add_product_by_transposed(MatrixSpan sum, const MatrixView& a, const MatrixView& b, double times = 1);
void add_transposed_product(MatrixSpan sum, const MatrixView& a, const MatrixView& b, double times = 1);
// The lower triangle of `sum` alone gains a b^T, a a^T, or a^T a.
void add_lower_product_by_transposed(MatrixSpan sum, const MatrixView& a, const MatrixView& b);
void add_square(MatrixSpan sum, const MatrixView& a, double times = 1);
void add_transposed_square(MatrixSpan sum, const MatrixView& a);

// x becomes L^-1 x, L the lower triangle.
void solve_lower(const MatrixView& lower, MatrixSpan x);

}  // namespace dma
