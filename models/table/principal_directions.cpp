#include "models/table/principal_directions.h"

#include <algorithm>

#include "engine/support/dense.h"

namespace dma {

// By the smaller of the two matrices of products: of columns, or of rows (whose eigenvectors u give directions X^T u).
PrincipalDirections PrincipalDirections::of(const Eigen::MatrixXd& rows, Eigen::Index directions) {
  const bool by_rows = rows.rows() < rows.cols();
  const Eigen::Index size = by_rows ? rows.rows() : rows.cols();
  Eigen::MatrixXd products = Eigen::MatrixXd::Zero(size, size);
  if (by_rows)
    add_square(products, rows);
  else
    add_transposed_square(products, rows);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(products);
  // Directions in which nothing but rounding differs are none.
  constexpr double kRounding = 1e-10;
  const double least = kRounding * eigen.eigenvalues()(size - 1);
  Eigen::Index count = 0;
  while (count < std::min(directions, size) && eigen.eigenvalues()(size - 1 - count) > least) ++count;
  const Eigen::MatrixXd leading = eigen.eigenvectors().rightCols(count).rowwise().reverse();
  PrincipalDirections found{by_rows ? transposed_product(rows, leading) : leading};
  found.basis.colwise().normalize();
  return found;
}

Eigen::MatrixXd PrincipalDirections::apply(const Eigen::MatrixXd& rows) const {
  Eigen::MatrixXd mapped(rows.rows(), basis.cols() + 1);
  mapped.leftCols(basis.cols()) = product_of(rows, basis);
  mapped.rightCols(1) = (rows - product_by_transposed(mapped.leftCols(basis.cols()), basis)).rowwise().norm();
  return mapped;
}

}  // namespace dma
