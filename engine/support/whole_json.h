// Whole numbers in JSON: one that fits, never one made to fit.
#pragma once

#include <cstdint>
#include <limits>

#include "engine/support/error.h"

namespace dma {

template <class Whole, class Json, class Key>
Whole whole(const Json& json, const Key& key) {
  const Json& value = json.at(key);
  const bool fits = value.is_number_unsigned() && value.template get<std::uint64_t>() <=
                                                      static_cast<std::uint64_t>(std::numeric_limits<Whole>::max());
  if (!fits) fail("\"{}\" is {}; a whole number of at least 0 is expected", key, value.dump().substr(0, 40));
  return static_cast<Whole>(value.template get<std::uint64_t>());
}

}  // namespace dma
