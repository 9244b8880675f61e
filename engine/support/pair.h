// Two numbers in one vector register, for loops that a compiler may not vectorise, because it must not change the order
// of additions.
#pragma once

#include <cstring>

namespace dma {

using Pair = double __attribute__((vector_size(2 * sizeof(double))));

inline Pair load_pair(const double* from) {
  Pair pair;
  std::memcpy(&pair, from, sizeof pair);
  return pair;
}

inline double total(const Pair& pair) { return pair[0] + pair[1]; }
inline double total(double number) { return number; }

}  // namespace dma
