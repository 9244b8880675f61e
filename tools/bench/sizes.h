// Networks from two thousand weights to two million: how the time for a weight and a row depends on their number.
#pragma once

#include <string>

namespace dma::bench {

std::string sizes();

}  // namespace dma::bench
