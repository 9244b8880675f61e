// The version of this program and the options of its build.
#pragma once

#include <string>

#include "engine/support/version.h"

namespace dma {

std::string build_options();  // "g++ 12.2.0, Release, for any aarch64 processor"

}  // namespace dma
