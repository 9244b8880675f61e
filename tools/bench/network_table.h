// Networks, every way beside the others: what an epoch costs per weight and row, and the ratios. The ways run in turns,
// so that all of them meet the same noise.
#pragma once

#include <string>
#include <vector>

#include "tools/bench/network_case.h"

namespace dma::bench {

struct NetworkRow {
  std::string name;
  std::size_t weights = 0, rows = 0;
  double fused = 0, unfused = 0, hand = 0, adam = 0;                  // nanoseconds per weight and row, medians
  double fused_by_hand = 0, unfused_by_fused = 0, fused_by_adam = 0;  // medians of ratios of neighbouring runs
  double difference = 0;  // difference of the weights' precisions between the engine and the loop by hand
};

// `seconds` of every way for each network, and three epochs at least.
NetworkRow measure_network(const std::string& name, double seconds);

std::string text(const std::vector<NetworkRow>& rows);

// Networks from two thousand weights to two million: how the time per weight and row depends on their number.
std::string sizes();

}  // namespace dma::bench
