// The arithmetic of messages on whole arrays, total on the closed set like that of single ones (gaussian.h): selections
// instead of branches, so that it runs on whole vectors.
#pragma once

#include <cstddef>

#include "engine/messages/gaussian.h"
#include "engine/support/independent.h"

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
inline bool multiply(const MessageArrays& a, const MessageArrays& b, const MessageArrays& out, std::size_t size) {
  std::size_t points = 0;
  DMA_INDEPENDENT
  for (std::size_t i = 0; i < size; ++i) {
    const double sum = a.tau[i] + b.tau[i], a_tau = a.tau[i], b_tau = b.tau[i], a_rho = a.rho[i], b_rho = b.rho[i];
    const double unless_a = b_rho == kInfinity ? b_tau : sum;
    out.tau[i] = a_rho == kInfinity ? a_tau : unless_a;
    out.rho[i] = a_rho + b_rho;
    points += b_rho == kInfinity;
  }
  return points > 0;
}

inline bool has_point(const MessageArrays& messages, std::size_t size) {
  std::size_t points = 0;
  for (std::size_t i = 0; i < size; ++i) points += messages.rho[i] == kInfinity;
  return points > 0;
}

}  // namespace dma
