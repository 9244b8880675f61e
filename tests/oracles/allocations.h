// Counts every allocation of the process, and the bytes that are held: the test program's operator new.
#pragma once

#include <cstdint>

namespace dma::oracle {

std::uint64_t allocations();
std::int64_t bytes_held();

}  // namespace dma::oracle
