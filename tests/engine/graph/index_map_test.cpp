#include "engine/graph/index_map.h"

#include <doctest/doctest.h>

#include <set>

using namespace dma;
using Table = std::vector<std::uint32_t>;

TEST_CASE("index_map: simplified keeps every entry of every table of up to 6 entries of up to 3 elements") {
  int affine = 0, tables = 0;
  for (std::uint32_t size = 1; size <= 6; ++size) {
    std::uint32_t count = 1;
    for (std::uint32_t i = 0; i < size; ++i) count *= 3;
    for (std::uint32_t code = 0; code < count; ++code) {
      Table table;
      for (std::uint32_t i = 0, rest = code; i < size; ++i, rest /= 3) table.push_back(5 + rest % 3);
      const IndexMap map = simplified({.table = table});
      for (std::uint32_t q = 0; q < size; ++q) REQUIRE(map(q) == table[q]);
      CHECK(is_injective(map, size) == (std::set(table.begin(), table.end()).size() == size));
      affine += map.is_affine();
      ++tables;
    }
  }
  CHECK(affine > 0);
  CHECK(affine < tables);
}

TEST_CASE("index_map: the maps that need no table lose it") {
  const auto is = [](const Table& table, std::uint32_t base, std::uint32_t divisor, std::uint32_t modulus) {
    const IndexMap map = simplified({.table = table});
    return map.is_affine() && map.base == base && map.divisor == divisor && map.modulus == modulus;
  };
  CHECK(is({4}, 4, 1, IndexMap::kWhole));
  CHECK(is({2, 3, 4}, 2, 1, IndexMap::kWhole));
  CHECK(is({0, 0, 1, 1, 2, 2}, 0, 2, IndexMap::kWhole));
  CHECK(is({1, 2, 1, 2}, 1, 1, 2));
  CHECK(is({7, 7, 7}, 7, 1, 1));
  CHECK(!simplified({.table = std::vector<std::uint32_t>{1, 0}}).is_affine());
  CHECK(!simplified({.table = std::vector<std::uint32_t>{0, 0, 1, 0}}).is_affine());
}
