#include "engine/messages/gaussian.h"

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace dma {

namespace {

// Blocks are multiplied in local memory with selections in place of multiply()'s branches, so that the compiler
// vectorises them; a block in which a sum overflowed is multiplied message by message.
constexpr std::size_t kBlock = 16;

template <class Count>
bool multiply_block(const MessageArrays& a, const MessageArrays& b, const MessageArrays& out, Count count) {
  double tau[kBlock], rho[kBlock];
  std::int64_t unusual = 0, points = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double sum = a.tau[i] + b.tau[i], unless_a = b.rho[i] == kInfinity ? b.tau[i] : sum;
    tau[i] = a.rho[i] == kInfinity ? a.tau[i] : unless_a;
    rho[i] = a.rho[i] + b.rho[i];
    const bool is_point = (a.rho[i] == kInfinity) | (b.rho[i] == kInfinity);
    points += b.rho[i] == kInfinity ? 1 : 0;
    unusual += (is_point | is_finite_sum(sum, rho[i])) ? 0 : 1;
  }
  if (unusual == 0) {
    std::copy_n(tau, count, out.tau);
    std::copy_n(rho, count, out.rho);
  } else {
    for (std::size_t i = 0; i < count; ++i) out.set(i, multiply(a[i], b[i]));
  }
  return points > 0;
}

}  // namespace

bool multiply(const MessageArrays& a, const MessageArrays& b, const MessageArrays& out, std::size_t size) {
  bool has_points = false;
  std::size_t first = 0;
  for (; first + kBlock <= size; first += kBlock)
    has_points |=
        multiply_block(a.from(first), b.from(first), out.from(first), std::integral_constant<std::size_t, kBlock>());
  return multiply_block(a.from(first), b.from(first), out.from(first), size - first) || has_points;
}

// Sums stay in registers while all rows are added.
void multiply_by_rows(const MessageArrays& out, const MessageArrays& messages, std::size_t rows, std::size_t size) {
  constexpr std::size_t kTogether = 8;
  for (std::size_t first = 0; first < size; first += kTogether) {
    double tau[kTogether], rho[kTogether];
    const std::size_t count = std::min(kTogether, size - first);
    std::copy_n(out.tau + first, count, tau);
    std::copy_n(out.rho + first, count, rho);
    const auto add = [&](std::size_t together) {
      const double *row_tau = messages.tau + first, *row_rho = messages.rho + first;
      for (std::size_t row = 0; row < rows; ++row, row_tau += size, row_rho += size)
        for (std::size_t i = 0; i < together; ++i) {
          tau[i] += row_tau[i];
          rho[i] += row_rho[i];
        }
    };
    if (count == kTogether) add(kTogether);
    else add(count);
    bool ordinary = true;
    for (std::size_t i = 0; i < count; ++i) ordinary &= is_finite_sum(tau[i], rho[i]);
    if (ordinary) {
      std::copy_n(tau, count, out.tau + first);
      std::copy_n(rho, count, out.rho + first);
    } else {
      for (std::size_t row = 0; row < rows; ++row)
        for (std::size_t i = first; i < first + count; ++i) out.set(i, multiply(out[i], messages[row * size + i]));
    }
  }
}

}  // namespace dma
