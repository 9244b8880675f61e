// What this machine does at best, measured: the rates that no loop over messages can exceed.
#pragma once

#include <cstddef>
#include <vector>

namespace dma::bench {

// Nanoseconds for one double.
struct PeakRates {
  double multiply_add, divide, root;
  double byte_of_cache, byte_of_memory;  // one byte read and written in arrays that fit the nearest cache, or none
};
PeakRates measure_peaks();

// Nanoseconds that an epoch takes at least, by weight and row: the longest of the arithmetic, the divisions and the bytes.
double least_time(const PeakRates& peaks, const std::vector<std::size_t>& layers);

}  // namespace dma::bench
