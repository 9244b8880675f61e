#include "engine/support/dense_product.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>
#include <vector>

#include "engine/support/text.h"

namespace dma {

namespace {

#if defined(__x86_64__)

using Size = std::ptrdiff_t;

// Blocks of a stay in the second cache while panels of b pass, panels of b in the first while they meet a block.
constexpr Size kDepth = 256, kRows = 96, kColumns = 480, kLine = 64;

struct Buffer {
  explicit Buffer(Size size)
      : data(static_cast<double*>(
            ::operator new(sizeof(double) * static_cast<std::size_t>(size), std::align_val_t(kLine)))) {}
  ~Buffer() { ::operator delete(data, std::align_val_t(kLine)); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  double* data;
};

constexpr Size rounded_up(Size size, Size unit) { return (size + unit - 1) / unit * unit; }

// Panels of `width` lines of a matrix, step by step of the depth; lines beyond the end are 0.
template <Size width>
[[gnu::always_inline]] inline void pack(const double* from, Size line_step, Size depth_step, Size lines, Size depth,
                                        double times, double* to) {
  for (Size first = 0; first < lines; first += width, to += width * depth) {
    const Size count = std::min(width, lines - first);
    const double* const panel = from + first * line_step;
    if (line_step == 1 && count == width) {
      for (Size k = 0; k < depth; ++k)
        for (Size i = 0; i < width; ++i) to[k * width + i] = times * panel[k * depth_step + i];
    } else {
      for (Size i = 0; i < width; ++i)
        for (Size k = 0; k < depth; ++k)
          to[k * width + i] = i < count ? times * panel[i * line_step + k * depth_step] : 0;
    }
  }
}

// out += a b of one panel each: `vectors` vectors of numbers below each other, `columns` of them side by side.
template <Size lanes, Size vectors, Size columns>
[[gnu::always_inline]] inline void add_tile(const double* a, const double* b, Size depth, double* out, Size step) {
  typedef double Vector [[gnu::vector_size(lanes * sizeof(double))]];
  Vector sums[columns][vectors] = {};
  for (Size k = 0; k < depth; ++k, a += lanes * vectors, b += columns) {
    Vector left[vectors];
    for (Size v = 0; v < vectors; ++v) std::memcpy(&left[v], a + v * lanes, sizeof(Vector));
    for (Size c = 0; c < columns; ++c)
      for (Size v = 0; v < vectors; ++v) sums[c][v] += left[v] * b[c];
  }
  for (Size c = 0; c < columns; ++c)
    for (Size v = 0; v < vectors; ++v) {
      Vector old;
      std::memcpy(&old, out + c * step + v * lanes, sizeof(Vector));
      old += sums[c][v];
      std::memcpy(out + c * step + v * lanes, &old, sizeof(Vector));
    }
}

template <Size lanes, Size vectors, Size columns>
[[gnu::always_inline]] inline void add_in_tiles(const DenseProduct& p) {
  constexpr Size kTall = lanes * vectors;
  static_assert(kRows % kTall == 0 && kColumns % columns == 0);
  const Size most_depth = std::min(p.depth, kDepth);
  const Buffer some_a(rounded_up(std::min(p.rows, kRows), kTall) * most_depth),
      some_b(rounded_up(std::min(p.columns, kColumns), columns) * most_depth);
  alignas(kLine) double edge[kTall * columns];
  for (Size j0 = 0; j0 < p.columns; j0 += kColumns)
    for (Size k0 = 0; k0 < p.depth; k0 += kDepth) {
      const Size wide = std::min(kColumns, p.columns - j0), deep = std::min(kDepth, p.depth - k0);
      pack<columns>(p.b.data + k0 * p.b.row_step + j0 * p.b.column_step, p.b.column_step, p.b.row_step, wide, deep,
                    p.times, some_b.data);
      for (Size i0 = p.lower_only ? j0 / kRows * kRows : 0; i0 < p.rows; i0 += kRows) {
        const Size tall = std::min(kRows, p.rows - i0);
        pack<kTall>(p.a.data + i0 * p.a.row_step + k0 * p.a.column_step, p.a.row_step, p.a.column_step, tall, deep, 1,
                    some_a.data);
        for (Size j = j0; j < j0 + wide; j += columns)
          for (Size i = i0; i < i0 + tall; i += kTall) {
            const Size last_row = std::min(i + kTall, p.rows) - 1, last_column = std::min(j + columns, p.columns) - 1;
            if (p.lower_only && last_row < j) continue;
            const double *const a = some_a.data + (i - i0) * deep, *const b = some_b.data + (j - j0) * deep;
            double* const out = p.sum + j * p.sum_step;
            if (last_row - i + 1 == kTall && last_column - j + 1 == columns && (!p.lower_only || i >= last_column)) {
              add_tile<lanes, vectors, columns>(a, b, deep, out + i, p.sum_step);
              continue;
            }
            std::memset(edge, 0, sizeof(edge));
            add_tile<lanes, vectors, columns>(a, b, deep, edge, kTall);
            for (Size c = j; c <= last_column; ++c)
              for (Size r = p.lower_only ? std::max(i, c) : i; r <= last_row; ++r)
                out[(c - j) * p.sum_step + r] += edge[(c - j) * kTall + r - i];
          }
      }
    }
}

[[gnu::target("avx2,fma")]] void add_by_avx2(const DenseProduct& p) { add_in_tiles<4, 2, 6>(p); }
[[gnu::target("avx512f,avx512vl,avx512dq,avx2,fma")]] void add_by_avx512(const DenseProduct& p) {
  add_in_tiles<8, 3, 8>(p);
}

std::vector<ProductLevel> levels_of_processor() {
  std::vector<ProductLevel> levels;
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq"))
    levels.push_back({"avx512", &add_by_avx512});
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) levels.push_back({"avx2", &add_by_avx2});
  return levels;
}

#else

std::vector<ProductLevel> levels_of_processor() { return {}; }

#endif

const ProductLevel* chosen_level() {
  const std::span<const ProductLevel> levels = product_levels();
  const char* const wanted = std::getenv("DMA_INSTRUCTIONS");
  if (!wanted || *wanted == '\0') return levels.empty() ? nullptr : &levels.front();
  if (std::string_view(wanted) == "none") return nullptr;
  std::string known;
  for (const ProductLevel& level : levels) {
    if (std::string_view(wanted) == level.name) return &level;
    known += std::string(level.name) + ", ";
  }
  fail("DMA_INSTRUCTIONS is '{}'; this processor has {}none", wanted, known);
}

}  // namespace

std::span<const ProductLevel> product_levels() {
  static const std::vector<ProductLevel> kLevels = levels_of_processor();
  return kLevels;
}

const ProductLevel* product_level() {
  static const ProductLevel* const kLevel = chosen_level();
  return kLevel;
}

}  // namespace dma
