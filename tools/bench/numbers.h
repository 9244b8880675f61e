// What networks have learned, with all digits: for who compares two builds.
#pragma once

#include <string>

namespace dma::bench {

std::string numbers();

}  // namespace dma::bench
