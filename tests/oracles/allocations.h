// Counts every allocation of the process: the test program's operator new.
#pragma once

#include <cstdint>

namespace dma::oracle {

std::uint64_t allocations();

}  // namespace dma::oracle
