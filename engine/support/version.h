// The version of the library.
#pragma once

#include <string_view>

namespace dma {

std::string_view version();  // "0.2.0", as project(VERSION) of CMakeLists.txt states it

}  // namespace dma
