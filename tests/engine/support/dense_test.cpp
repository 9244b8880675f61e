#include "engine/support/dense.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "engine/support/dense_product.h"
#include "tests/oracles/random_matrices.h"

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

TEST_CASE("dense: every level of instructions adds sums of products, of any sizes and steps, and reads nothing else") {
  using Eigen::Index, Eigen::MatrixXd;
  struct Sizes {
    Index rows, columns, depth;
  };
  const Sizes all[] = {{4, 4, 1}, {1, 9, 3}, {23, 6, 40}, {24, 16, 7}, {25, 17, 257}, {97, 5, 300}, {130, 490, 20}};
  for (const ProductLevel& level : product_levels())
    for (const Sizes& sizes : all)
      for (const bool is_transposed : {false, true})
        for (const bool lower_only : {false, true}) {
          const Index rows = sizes.rows, columns = sizes.columns, depth = sizes.depth;
          INFO(level.name, ": ", rows, " x ", columns, ", depth ", depth);
          // Operands lie in the middle of matrices without numbers.
          const auto framed = [](const MatrixXd& of) {
            MatrixXd frame(of.rows() + 2, of.cols() + 2);
            frame.setConstant(std::numeric_limits<double>::quiet_NaN());
            frame.block(1, 1, of.rows(), of.cols()) = of;
            return frame;
          };
          const MatrixXd a = oracle::random_matrix(rows, depth, 1), b = oracle::random_matrix(depth, columns, 2);
          const MatrixXd frame_a = framed(is_transposed ? MatrixXd(a.transpose()) : a), frame_b = framed(b);
          const Index step_a = frame_a.rows(), step_b = frame_b.rows();
          MatrixXd sum = oracle::random_matrix(rows + 2, columns + 2, 3);
          const MatrixXd before = sum;
          level.add({rows,
                     columns,
                     depth,
                     {frame_a.data() + step_a + 1, is_transposed ? step_a : 1, is_transposed ? 1 : step_a},
                     {frame_b.data() + step_b + 1, 1, step_b},
                     -2,
                     sum.data() + sum.rows() + 1,
                     sum.rows(),
                     lower_only});
          double most = 0;
          for (Index i = 0; i < rows + 2; ++i)
            for (Index j = 0; j < columns + 2; ++j) {
              double expected = before(i, j);
              const bool inside = i > 0 && j > 0 && i <= rows && j <= columns && (!lower_only || i >= j);
              for (Index k = 0; inside && k < depth; ++k) expected -= 2 * a(i - 1, k) * b(k, j - 1);
              if (inside)
                most = std::max(most, std::abs(sum(i, j) - expected));
              else if (sum(i, j) != expected)
                most = HUGE_VAL;
            }
          CHECK(most < 1e-15 * static_cast<double>(4 * depth + 4));
        }
}

TEST_CASE("dense: factors and solutions with large triangles, and no factor where there is none") {
  for (const Eigen::Index size : {15, 17, 50, 131}) {
    CAPTURE(size);
    const Eigen::MatrixXd root = oracle::random_matrix(size, size, 7), right = oracle::random_matrix(size, 9, 8);
    Eigen::MatrixXd square = Eigen::MatrixXd::Identity(size, size);
    add_square(square, root);
    mirror_lower(square);
    Eigen::MatrixXd factor = square;
    factor.triangularView<Eigen::StrictlyUpper>().setConstant(7);  // stays, and is not read
    CHECK(factorise_lower(factor));
    CHECK(factor(0, size - 1) == 7);
    const Eigen::MatrixXd lower = factor.triangularView<Eigen::Lower>();
    const auto differs = [&](const Eigen::MatrixXd& a, const Eigen::MatrixXd& b, const Eigen::MatrixXd& expected) {
      double most = 0;
      for (Eigen::Index i = 0; i < expected.rows(); ++i)
        for (Eigen::Index j = 0; j < expected.cols(); ++j) {
          double sum = 0;
          for (Eigen::Index k = 0; k < a.cols(); ++k) sum += a(i, k) * b(k, j);
          most = std::max(most, std::abs(sum - expected(i, j)));
        }
      return most;
    };
    CHECK(differs(lower, lower.transpose(), square) < 1e-12);
    Eigen::MatrixXd x = right;
    solve_lower(factor, x);
    CHECK(differs(lower, x, right) < 1e-12);
    x = right;
    solve_lower_transposed(factor, x);
    CHECK(differs(lower.transpose(), x, right) < 1e-12);
    x = right.transpose();
    solve_lower_from_right(factor, x);
    CHECK(differs(x, lower.transpose(), right.transpose()) < 1e-12);
    square(size - 1, size - 1) = -1;
    CHECK_FALSE(factorise_lower(square));
  }
}
