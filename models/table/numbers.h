// One number for everything, or one for each: how options that may differ per layer or per output are written.
#pragma once

#include <initializer_list>
#include <string_view>
#include <vector>

#include "engine/support/error.h"

namespace dma {

struct Numbers {
  Numbers() = default;
  Numbers(double one) : values{one} {}                                        // NOLINT: .noise = 0.2
  Numbers(std::initializer_list<double> each) : values(each) {}               // NOLINT: .slopes = {0.4, 0.8}
  Numbers(std::vector<double> each) : values(std::move(each)) {}              // NOLINT

  bool empty() const { return values.empty(); }
  // As many as wanted, a single one repeated.
  std::vector<double> expanded(std::size_t count, std::string_view what) const {
    if (values.size() == 1) return std::vector<double>(count, values[0]);
    if (values.size() != count) fail("{}: {} numbers are given, but 1 or {} expected", what, values.size(), count);
    return values;
  }
  std::vector<double> values;
};

}  // namespace dma
