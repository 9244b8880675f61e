// Conversion from a double to a whole number. A cast of NaN, or of a number that the integer cannot hold, is undefined:
// on some processors it gives 0, on others 2^63.
#pragma once

#include <concepts>

namespace dma {

// The whole number next to x towards 0, within [low, high]; low if x is NaN.
template <std::integral Integer>
constexpr Integer whole_number(double x, Integer low, Integer high) {
  if (!(x > static_cast<double>(low))) return low;
  // high as a double may have been rounded up beyond the integer's range: smaller doubles still fit.
  if (!(x < static_cast<double>(high))) return high;
  return static_cast<Integer>(x);
}

}  // namespace dma
