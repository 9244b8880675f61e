// The messages of a state and the working memory of kernels. Operations point into it: its sizes never change.
#pragma once

#include <algorithm>
#include <vector>

#include "engine/compile/plan.h"
#include "engine/messages/arrays.h"

namespace dma {

struct MessageStore {
  explicit MessageStore(const PlanData& plan)
      : tau(plan.slots), rho(plan.slots), arrival_tau(plan.arrivals), arrival_rho(plan.arrivals), scratch(plan.scratch),
        memory(plan.memory) {}

  std::vector<double> tau, rho;                  // messages, by slot
  std::vector<double> arrival_tau, arrival_rho;  // kept arrivals
  std::vector<double> scratch;                   // for one kernel call
  std::vector<double> memory;                    // memory of kinds, by slot
  bool has_widening = false;                     // a stored message may have negative precision

  MessageArrays messages() { return {tau.data(), rho.data()}; }
  MessageArrays arrivals() { return {arrival_tau.data(), arrival_rho.data()}; }
  Natural operator[](std::size_t slot) const { return {tau[slot], rho[slot]}; }

  void make_uniform(const SlotRange& slots) {
    std::fill_n(tau.begin() + slots.first, slots.count, 0.0);
    std::fill_n(rho.begin() + slots.first, slots.count, 0.0);
  }
  void make_arrivals_uniform(const SlotRange& arrivals) {
    std::fill_n(arrival_tau.begin() + arrivals.first, arrivals.count, 0.0);
    std::fill_n(arrival_rho.begin() + arrivals.first, arrivals.count, 0.0);
  }
  // Copies a store of the same plan.
  void copy_from(const MessageStore& other) {
    std::ranges::copy(other.tau, tau.begin());
    std::ranges::copy(other.rho, rho.begin());
    std::ranges::copy(other.arrival_tau, arrival_tau.begin());
    std::ranges::copy(other.arrival_rho, arrival_rho.begin());
    std::ranges::copy(other.memory, memory.begin());
    has_widening = other.has_widening;
  }
};

}  // namespace dma
