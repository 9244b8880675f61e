#include "engine/joint/small_fronts.h"

#include <array>
#include <utility>

namespace dma::joint_system {

namespace {

// Calls f(0), ..., f(Count - 1) with constant arguments.
template <int Count, class F>
inline void for_each_constant(const F& f) {
  [&]<int... I>(std::integer_sequence<int, I...>) { (f(std::integral_constant<int, I>{}), ...); }
  (std::make_integer_sequence<int, Count>{});
}

template <int Size, int Own>
bool eliminate(const double* front, const double* diagonal, double* panel, double* inverse_pivots, double* left) {
  double a[Size][Size];  // a[column][row]
  for_each_constant<Size>([&](auto column) {
    constexpr int c = column;
    for_each_constant<Size - c>([&](auto row) { a[c][c + row] = front[c * Size + c + row]; });
  });
  bool whole = true;
  for_each_constant<Own>([&](auto constant) {
    constexpr int j = constant;
    const double pivot = a[j][j];
    whole &= pivot > kLostPivot * diagonal[j];
    const double inverse = 1 / pivot;
    inverse_pivots[j] = inverse;
    panel[j * Size + j] = 0;
    for_each_constant<Size - j - 1>([&](auto column) {
      constexpr int c = j + 1 + column;
      const double factor = a[j][c] * inverse;
      panel[j * Size + c] = factor;
      for_each_constant<Size - c>([&](auto row) { a[c][c + row] -= factor * a[j][c + row]; });
    });
  });
  if (!whole) return false;
  constexpr int kBelow = Size - Own;
  for_each_constant<kBelow>([&](auto column) {
    constexpr int c = column;
    for_each_constant<kBelow - c>([&](auto row) { left[c * kBelow + c + row] = a[Own + c][Own + c + row]; });
  });
  return true;
}

// Loops over the rows below the diagonal of column j begin at an even row, so that pairs of numbers are loaded and
// stored together; the diagonal, which may be included, is 0 in a panel.
constexpr int even(int j) { return (j + 1) / 2 * 2; }

template <int Size, int Own>
void forward(const double* panel, double* own, double* y, const std::uint32_t* later) {
  double t[Size];
  for (int i = 0; i < Own; ++i) t[i] = own[i];
  for (int i = Own; i < Size; ++i) t[i] = y[later[i - Own]];
  for_each_constant<Own>([&](auto constant) {
    constexpr int j = constant;
    const double value = t[j];
    for (int i = even(j); i < Size; ++i) t[i] -= panel[j * Size + i] * value;
  });
  for (int i = 0; i < Own; ++i) own[i] = t[i];
  for (int i = Own; i < Size; ++i) y[later[i - Own]] = t[i];
}

// Row by row from the last one, so that each number waits for one product only.
template <int Size, int Own>
void backward(const double* panel, double* own, const double* y, const std::uint32_t* later) {
  double t[Own];
  for (int j = 0; j < Own; ++j) t[j] = own[j];
  for (int i = Own; i < Size; ++i) {
    const double value = y[later[i - Own]];
    for (int j = 0; j < Own; ++j) t[j] -= panel[j * Size + i] * value;
  }
  for_each_constant<Own>([&](auto constant) {
    constexpr int i = Own - 1 - constant;
    for (int j = 0; j < i; ++j) t[j] -= panel[j * Size + i] * t[i];
  });
  for (int j = 0; j < Own; ++j) own[j] = t[j];
}

// Column j, with u the part of U below its diagonal: z = -Z u, and 1 / pivot - u^T z in the corner.
template <int Size, int Own>
void invert(const double* panel, const double* inverse_pivots, double* z) {
  for_each_constant<Own>([&](auto constant) {
    constexpr int j = Own - 1 - constant;
    const double* const u = panel + j * Size;
    double out[Size] = {};
    // The column computed last is used last, because its value arrives last.
    for (int c = Size - 1; c > j; --c)
      for (int i = even(j); i < Size; ++i) out[i] -= u[c] * z[c * Size + i];
    double corner[2] = {inverse_pivots[j], 0};
    for (int i = j + 1; i < Size; ++i) {
      corner[i % 2] -= u[i] * out[i];
      z[j * Size + i] = z[i * Size + j] = out[i];
    }
    z[j * Size + j] = corner[0] + corner[1];
  });
}

constexpr int kSizes = kSmallFront;

template <int Size, int Own>
constexpr SmallFront kernels() {
  if constexpr (Own <= Size && is_small_front(Size, Own))
    return {&eliminate<Size, Own>, &forward<Size, Own>, &backward<Size, Own>, &invert<Size, Own>};
  else
    return {};
}

template <int... I>
constexpr std::array<SmallFront, sizeof...(I)> table(std::integer_sequence<int, I...>) {
  return {kernels<I / kSizes + 1, I % kSizes + 1>()...};
}

constexpr auto kTable = table(std::make_integer_sequence<int, kSizes * kSizes>{});

}  // namespace

const SmallFront& small_front(std::uint32_t size, std::uint32_t own) {
  return kTable[(size - 1) * kSmallFront + own - 1];
}

}  // namespace dma::joint_system
