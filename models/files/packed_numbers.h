// Many doubles as text that is short, quick to read and keeps all bits: their little-endian bytes in base64.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dma {

std::string packed(std::span<const double> values);
// An Error for text that packed() cannot have made.
std::vector<double> unpacked(std::string_view text);

}  // namespace dma
