#include "engine/graph/index_map.h"

#include <algorithm>

namespace dma {

namespace {

bool equals(const std::vector<std::uint32_t>& table, const IndexMap& affine) {
  for (std::uint32_t q = 0; q < table.size(); ++q)
    if (table[q] != affine(q)) return false;
  return true;
}

}  // namespace

IndexMap simplified(IndexMap map) {
  if (map.is_affine() || map.is_given) return map;
  const std::vector<std::uint32_t>& table = map.table;
  const std::uint32_t base = table[0];
  if (table.size() == 1) return {base, 1, IndexMap::kWhole};
  // The length of the first constant run is the divisor; the first return to the base is the modulus.
  std::uint64_t run = 1, period = 1;  // their product may be twice the size
  const auto size = static_cast<std::uint32_t>(table.size());
  while (run < size && table[run] == base) ++run;
  while (period * run < size && table[period * run] != base) ++period;
  const std::uint32_t modulus =
      period * run >= size && run < size ? IndexMap::kWhole : static_cast<std::uint32_t>(period);
  const IndexMap affine{base, run == size ? 1 : static_cast<std::uint32_t>(run), run == size ? 1 : modulus};
  return equals(table, affine) ? affine : map;
}

bool is_injective(const IndexMap& map, std::uint32_t slots) {
  if (map.is_affine()) return slots <= 1 || (map.divisor == 1 && map.modulus >= slots);
  if (map.is_given) return slots <= 1;
  std::vector<std::uint32_t> sorted(map.table.begin(), map.table.begin() + slots);
  std::ranges::sort(sorted);
  return std::ranges::adjacent_find(sorted) == sorted.end();
}

}  // namespace dma
