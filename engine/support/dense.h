// Products of dense matrices and solutions with triangles as plain functions, compiled once. As an expression, a
// product of matrices is compiled again for every combination of operand types, a second or two each. Products with
// vectors and diagonals cost less each, but are more frequent. Decompositions of an Eigen::MatrixXd (not of an
// expression) are compiled once too: one to six seconds each.
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
using VectorView = Eigen::Ref<const Eigen::VectorXd>;

Eigen::MatrixXd product_of(const MatrixView& a, const MatrixView& b);             // a b
Eigen::MatrixXd product_by_transposed(const MatrixView& a, const MatrixView& b);  // a b^T
Eigen::MatrixXd transposed_product(const MatrixView& a, const MatrixView& b);     // a^T b

Eigen::VectorXd times(const MatrixView& a, const VectorView& x, double by = 1);  // by a x
Eigen::VectorXd transposed_times(const MatrixView& a, const VectorView& x);      // a^T x
Eigen::MatrixXd scaled_rows(const VectorView& by, const MatrixView& a);          // diag(by) a
Eigen::MatrixXd scaled_columns(const MatrixView& a, const VectorView& by);       // a diag(by)
Eigen::VectorXd squared_columns(const MatrixView& a);                            // sum_i a_ij^2, by j
Eigen::VectorXd row_products(const MatrixView& a, const MatrixView& b);          // sum_j a_ij b_ij, by i
double sum_of_logs(const VectorView& x);                                         // sum_i log x_i
double log_diagonal(const MatrixView& a);                                        // sum_i log a_ii

// sum += times * product. It must not share memory with the operands.
void add_product(MatrixSpan sum, const MatrixView& a, const MatrixView& b, double times = 1);
void add_times(Eigen::VectorXd& sum, const MatrixView& a, const VectorView& x, double times = 1);
void add_product_by_transposed(MatrixSpan sum, const MatrixView& a, const MatrixView& b, double times = 1);
void add_transposed_product(MatrixSpan sum, const MatrixView& a, const MatrixView& b, double times = 1);
// Adds a b^T, a a^T, or a^T a to the lower triangle of `sum` only.
void add_lower_product_by_transposed(MatrixSpan sum, const MatrixView& a, const MatrixView& b);
void add_square(MatrixSpan sum, const MatrixView& a, double times = 1);
void add_transposed_square(MatrixSpan sum, const MatrixView& a);

// Replaces the lower triangle of a by L, a = L L^T. Returns false if it is not positive definite; the contents are then
// no factor.
bool factorise_lower(MatrixSpan a);
// x <- L^-1 x, L^-T x or x L^-T, with L the lower triangle.
void solve_lower(const MatrixView& lower, MatrixSpan x);
void solve_lower(const MatrixView& lower, Eigen::VectorXd& x);
void solve_lower_transposed(const MatrixView& lower, MatrixSpan x);
void solve_lower_transposed(const MatrixView& lower, Eigen::VectorXd& x);
void solve_lower_from_right(const MatrixView& lower, MatrixSpan x);
// x <- (L L^T)^-1 x.
void solve_by_factor(const MatrixView& lower, Eigen::VectorXd& x);
// The inverse of the lower triangle with a unit diagonal.
Eigen::MatrixXd unit_lower_inverse(const MatrixView& lower);
// Copies the lower triangle to the upper one.
void mirror_lower(Eigen::MatrixXd& a);

}  // namespace dma
