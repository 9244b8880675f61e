// Counts all allocations of the process and the bytes currently held, through the test program's operator new.
#pragma once

#include <cstdint>

namespace dma::oracle {

std::uint64_t allocations();
std::int64_t bytes_held();

}  // namespace dma::oracle
