// sum += times * a b, by the widest instructions that the processor offers. They are chosen once, at the first product,
// so that one program is quick on every processor. Bits of the result depend on that choice and on the sizes alone.
#pragma once

#include <cstddef>
#include <span>

namespace dma {

// Element (i, j) is data[i * row_step + j * column_step].
struct StridedMatrix {
  const double* data;
  std::ptrdiff_t row_step, column_step;
};

struct DenseProduct {
  std::ptrdiff_t rows, columns, depth;
  StridedMatrix a, b;  // rows x depth, depth x columns
  double times;
  double* sum;  // must not share memory with a or b
  std::ptrdiff_t sum_step;
  bool lower_only;  // numbers above the diagonal of `sum` stay
};

struct ProductLevel {
  const char* name;  // "avx512", "avx2"
  void (*add)(const DenseProduct& product);
};
// Levels that this processor can run, the widest first; none: Eigen's products are as good.
std::span<const ProductLevel> product_levels();
// The level in use: the widest, or the one that the environment variable DMA_INSTRUCTIONS names ("none": no level).
const ProductLevel* product_level();

}  // namespace dma
