// Maps a port's slot to an element of all variables laid side by side.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "engine/support/lists.h"

namespace dma {

// element(q) = base + (q / divisor) % modulus; table[q] if there is no such form.
struct IndexMap {
  static constexpr std::uint32_t kWhole = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t base = 0;
  std::uint32_t divisor = 1;
  std::uint32_t modulus = kWhole;
  bool is_given = false;  // the table is data: its entries are placeholders
  MostlyEmpty<std::vector<std::uint32_t>> table = {};

  bool is_affine() const { return table.empty(); }
  bool is_identical() const { return is_affine() && divisor == 1 && modulus == kWhole; }
  std::uint32_t operator()(std::uint32_t q) const {
    return is_affine() ? base + (q / divisor) % modulus : table[q];
  }
};

// The affine form of a table of `size` entries, if it has one (identical, row, column or all-to-one); otherwise the
// table.
IndexMap simplified(IndexMap map);

// True if no two of the first `slots` slots share an element, for any given table.
bool is_injective(const IndexMap& map, std::uint32_t slots);

}  // namespace dma
