// Shared code of kinds made from a plain function: their parameters, whose number varies from kind to kind, and
// messages to all ports.
#pragma once

#include <array>

#include "engine/kinds/kind.h"
#include "engine/support/text.h"

namespace dma {

// The parameters of one slot, read on demand.
struct SlotParameters {
  ParameterRow row{};
  static SlotParameters bind(const ParameterRow& row) { return {row}; }
};

class ParameterNumbers {
 public:
  ParameterNumbers(const SlotParameters& p, std::size_t count) : count_(count) {
    for (std::size_t i = 0; i < count; ++i) numbers_[i] = p.row.number(i);
  }
  std::span<const double> span() const { return {numbers_.data(), count_}; }

 private:
  std::array<double, kMaxParameters> numbers_;
  std::size_t count_;
};

inline void add_parameters(Kind& kind, const std::vector<ParameterSpec>& parameters) {
  for (const ParameterSpec& parameter : parameters) {
    if (parameter.per_term)
      fail("kind '{}': parameter '{}' is per term, but there is no variadic port", kind.name(), parameter.name);
    if (parameter.prepare)
      kind.table_parameter(parameter.name, parameter.prepare, parameter.domain);
    else if (parameter.fallback)
      kind.optional_parameter(parameter.name, *parameter.fallback, parameter.domain);
    else
      kind.parameter(parameter.name, parameter.domain);
  }
}

// For argument lists of as many messages as there are ports.
template <std::size_t>
using GaussianAt = Gaussian;

}  // namespace dma
