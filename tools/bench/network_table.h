// The five networks, every way beside the others: what an epoch costs for each weight and row, and the ratios that are
// promised. Ways are run in turns, so that all of them meet the same noise.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "tools/bench/gate.h"
#include "tools/bench/network_case.h"

namespace dma::bench {

// What this machine does at best, measured: the rates that no loop over messages can exceed.
// Nanoseconds for one double.
struct PeakRates {
  double multiply_add, divide, root;
  double byte_of_cache, byte_of_memory;  // one byte read and written in arrays that fit the nearest cache, or none
};
PeakRates measure_peaks();

// Nanoseconds that an epoch takes at least, by weight and row: the longest of the arithmetic, the divisions and the
// bytes.
double least_time(const PeakRates& peaks, const std::vector<std::size_t>& layers);

// `seconds` of every way for each network, and three epochs at least.
NetworkRow measure_network(const std::string& name, const PeakRates& peaks, double seconds);

std::string text(const std::vector<NetworkRow>& rows);

}  // namespace dma::bench
