// What this program is: its version, and how it was built.
#pragma once

#include <string>

#include "engine/support/version.h"

namespace dma {

std::string build_options();  // "g++ 12.2.0, Release, for any aarch64 processor"

}  // namespace dma
