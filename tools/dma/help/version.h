// What this program is: the version that CMakeLists.txt states, and how it was built.
#pragma once

#include <string>

namespace dma {

std::string version();        // "0.1.0"
std::string build_options();  // "g++ 12.2.0, Release, for any aarch64 processor"

}  // namespace dma
