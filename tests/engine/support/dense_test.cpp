#include "engine/support/dense.h"

#include <doctest/doctest.h>

#include <cmath>

namespace {

using namespace dma;

Eigen::MatrixXd filled(Eigen::Index rows, Eigen::Index columns, double start) {
  Eigen::MatrixXd m(rows, columns);
  for (Eigen::Index i = 0; i < m.size(); ++i) m(i) = std::sin(start + 1.7 * static_cast<double>(i));
  return m;
}

double sum_over(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b, Eigen::Index i, Eigen::Index j) {
  double sum = 0;
  for (Eigen::Index k = 0; k < a.cols(); ++k) sum += a(i, k) * b(j, k);
  return sum;
}

}  // namespace

TEST_CASE("dense: products of parts of matrices, large and small, are sums over their rows or columns") {
  for (const Eigen::Index size : {1, 3, 40}) {
    const Eigen::MatrixXd a = filled(size + 2, 7, 1), b = filled(size + 2, 7, 2), c = filled(size, size, 3);
    const auto own = a.topRows(size), other = b.bottomRows(size);
    Eigen::MatrixXd plus = c, by_columns = c.topLeftCorner(size, size), lower = c, square = c, columns = c;
    add_product_by_transposed(plus, own, other, -2);
    add_transposed_product(by_columns, own.transpose(), other.transpose(), 0.5);
    add_lower_product_by_transposed(lower, own, other);
    add_square(square, own, 3);
    add_transposed_square(columns, own.transpose());
    const Eigen::MatrixXd product = product_by_transposed(own, other);
    const Eigen::MatrixXd transposed = transposed_product(own.transpose(), other.transpose());
    for (Eigen::Index i = 0; i < size; ++i)
      for (Eigen::Index j = 0; j < size; ++j) {
        const double here = sum_over(own, other, i, j), of_own = sum_over(own, own, i, j);
        CHECK(std::abs(product(i, j) - here) < 1e-14);
        CHECK(std::abs(transposed(i, j) - here) < 1e-14);
        CHECK(std::abs(plus(i, j) - (c(i, j) - 2 * here)) < 1e-14);
        CHECK(std::abs(by_columns(i, j) - (c(i, j) + 0.5 * here)) < 1e-14);
        CHECK(std::abs(lower(i, j) - (c(i, j) + (i < j ? 0 : here))) < 1e-14);
        CHECK(std::abs(square(i, j) - (c(i, j) + (i < j ? 0 : 3 * of_own))) < 1e-14);
        CHECK(std::abs(columns(i, j) - (c(i, j) + (i < j ? 0 : of_own))) < 1e-14);
      }
    Eigen::MatrixXd triangle = c, x = other;
    triangle.diagonal().array() += 4;
    solve_lower(triangle, x);
    const Eigen::MatrixXd strict = triangle.triangularView<Eigen::Lower>();
    CHECK((product_by_transposed(strict, x.transpose()) - other).cwiseAbs().maxCoeff() < 1e-12);
  }
}
