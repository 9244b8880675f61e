// messages/: what travels along an edge and the arithmetic on it. May include support/ alone.
//
// A family says what the two natural parameters of a message mean.
#pragma once

#include <cstdint>
#include <string_view>

namespace dma {

enum class Family : std::uint8_t { gaussian, log_normal };

constexpr std::string_view name(Family family) {
  constexpr std::string_view kNames[] = {"gaussian", "log_normal"};
  return kNames[static_cast<std::size_t>(family)];
}

}  // namespace dma
