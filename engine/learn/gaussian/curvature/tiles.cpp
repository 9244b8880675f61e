#include "engine/learn/gaussian/curvature/tiles.h"

#include <algorithm>
#include <cmath>

#include "engine/support/dense.h"

namespace dma {

namespace {

// Wide enough that a product with a tile runs at the speed of a large one, narrow enough that threads end together.
Index tile_width(Index size) { return size <= 1024 ? 64 : 128; }

void for_tiles(Index size, Index width, ThreadPool& pool, const std::function<void(Index begin, Index count)>& f) {
  const Index tiles = (size + width - 1) / width;
  pool.run(static_cast<std::size_t>(tiles), [&](std::size_t tile) {
    const Index begin = static_cast<Index>(tile) * width;
    f(begin, std::min(width, size - begin));
  });
}

}  // namespace

void add_gram(std::span<const Matrix> gains, Matrix& sum, ThreadPool& pool) {
  const Index size = sum.rows();
  for_tiles(size, tile_width(size), pool, [&](Index begin, Index count) {
    const Index below = size - begin - count;
    for (const Matrix& block : gains) {
      const MatrixView own = block.middleCols(begin, count);
      add_transposed_square(sum.block(begin, begin, count, count), own);
      if (below > 0) add_transposed_product(sum.block(begin + count, begin, below, count), block.rightCols(below), own);
    }
  });
}

// Right-looking: a panel of columns is factorised, then what lies below and right of it loses the panel's products.
void factorise(Eigen::Ref<Matrix> matrix, ThreadPool& pool) {
  const Index size = matrix.rows(), width = tile_width(size);
  for (Index k = 0; k < size; k += width) {
    const Index count = std::min(width, size - k), below = size - k - count;
    const MatrixSpan diagonal = matrix.block(k, k, count, count);
    if (!factorise_lower(diagonal)) matrix(k, k) = std::nan("");  // whoever solves with it finds no number
    if (below == 0) break;
    const Index next = k + count;
    for_tiles(below, 2 * width, pool, [&](Index begin, Index rows) {
      solve_lower_from_right(diagonal, matrix.block(next + begin, k, rows, count));
    });
    for_tiles(below, width, pool, [&](Index begin, Index columns) {
      const MatrixView own = matrix.block(next + begin, k, columns, count);
      add_square(matrix.block(next + begin, next + begin, columns, columns), own, -1);
      const Index rest = below - begin - columns;
      if (rest > 0)
        add_product_by_transposed(matrix.block(size - rest, next + begin, rest, columns),
                                  matrix.block(size - rest, k, rest, count), own, -1);
    });
  }
}

Matrix safe_factor(const Matrix& matrix, const Vector& shift, ThreadPool& pool) {
  constexpr double kFirstFraction = 1e-15, kLastFraction = 1e-3;
  Matrix factor;
  for (double fraction = 0; fraction < kLastFraction; fraction = fraction == 0 ? kFirstFraction : 10 * fraction) {
    factor = matrix;
    factor.diagonal() += shift;
    if (fraction > 0) factor.diagonal() *= 1 + fraction * static_cast<double>(matrix.rows());
    factorise(factor, pool);
    if (factor.diagonal().allFinite()) break;
  }
  return factor;
}

Matrix triangular_inverse(const Matrix& lower, ThreadPool& pool) {
  const Index size = lower.rows();
  Matrix inverse = Matrix::Zero(size, size);
  for_tiles(size, 64, pool, [&](Index j, Index columns) {
    inverse.diagonal().segment(j, columns).setOnes();
    solve_lower(lower.block(j, j, size - j, size - j), inverse.block(j, j, size - j, columns));
  });
  return inverse;
}

}  // namespace dma
