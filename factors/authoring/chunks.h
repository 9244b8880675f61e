// Loops over blocks of slots: in chunks whose working arrays fit on the stack and in the nearest cache, and over two
// ports.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "engine/kinds/block_loop.h"
#include "engine/support/independent.h"

namespace dma {

inline constexpr std::size_t kChunk = 32;

// Calls use(first, count) for one chunk after the other.
template <class Use>
void by_chunks(std::size_t slots, const Use &use) {
  for (std::size_t first = 0; first < slots; first += kChunk) use(first, std::min(kChunk, slots - first));
}

// Computes the message of each slot from one message on each of two ports. compute(a_tau, a_rho, b_tau, b_rho, tau,
// rho) writes it and returns whether it is good. Returns whether all are.
template <class Compute>
bool slot_by_slot(const SlotBlock &block, std::size_t a, std::size_t b, const Compute &compute) {
  const double *const a_tau = block.tau_of(a), *const a_rho = block.rho_of(a);
  const double *const b_tau = block.tau_of(b), *const b_rho = block.rho_of(b);
  double *const tau = block.tau, *const rho = block.rho;
  std::int64_t bad = 0;
  DMA_INDEPENDENT
  for (std::size_t i = 0; i < block.slots; ++i)
    bad += compute(a_tau[i], a_rho[i], b_tau[i], b_rho[i], tau[i], rho[i]) ? 0 : 1;
  return bad == 0;
}

}  // namespace dma
