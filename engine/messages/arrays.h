// The arithmetic of messages on whole arrays, total on the closed set like that of single ones (gaussian.h).
#pragma once

#include <cstddef>

#include "engine/messages/gaussian.h"

namespace dma {

// Messages one after the other, parameter by parameter.
struct MessageArrays {
  double* tau = nullptr;
  double* rho = nullptr;
  Natural operator[](std::size_t i) const { return {tau[i], rho[i]}; }
  void set(std::size_t i, const Natural& m) const { tau[i] = m.tau, rho[i] = m.rho; }
  MessageArrays from(std::size_t first) const { return {tau + first, rho + first}; }
};

// out = a * b. `out` may be `a` or `b`, but overlap neither in part. Returns whether one of b is a point mass.
bool multiply(const MessageArrays& a, const MessageArrays& b, const MessageArrays& out, std::size_t size);

// out[i] *= the product of messages[row * size + i] over all rows.
void multiply_by_rows(const MessageArrays& out, const MessageArrays& messages, std::size_t rows, std::size_t size);

inline bool has_point(const MessageArrays& messages, std::size_t size) {
  std::size_t points = 0;
  for (std::size_t i = 0; i < size; ++i) points += messages.rho[i] == kInfinity;
  return points > 0;
}

}  // namespace dma
