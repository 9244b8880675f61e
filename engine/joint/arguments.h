// Lists the elements that the slots of a group read and write.
#pragma once

#include <numeric>
#include <span>
#include <vector>

#include "engine/compile/compile.h"
#include "engine/compile/plan_data.h"
#include "engine/kinds/kind.h"

namespace dma::joint_system {

inline bool is_function(const Kind& kind) { return static_cast<bool>(kind.linear_view()); }
inline bool is_density(const Kind& kind) { return !is_function(kind) && kind.gaussian_row(); }

// Elements argument by argument, each by slot; a variadic port gives one argument per term.
template <class Keep>
std::uint32_t list_arguments(const Group& group, const Keep& keep, std::span<const std::uint32_t> slots,
                             std::vector<std::uint32_t>& out) {
  std::uint32_t count = 0;
  for (std::size_t p = 0; p < group.ports.size(); ++p) {
    if (!keep(group.kind->ports()[p])) continue;
    const Group::Port& port = group.ports[p];
    for (std::uint32_t t = 0; t < port.terms; ++t, ++count)
      for (const std::uint32_t s : slots) out.push_back(port.elements(s * port.terms + t));
  }
  return count;
}

inline bool is_input(const PortSpec& port) { return !port.output; }
inline bool is_output(const PortSpec& port) { return port.output; }
inline bool is_any(const PortSpec&) { return true; }

inline std::vector<std::uint32_t> all_slots(std::uint32_t count) {
  std::vector<std::uint32_t> slots(count);
  std::iota(slots.begin(), slots.end(), 0u);
  return slots;
}

}  // namespace dma::joint_system
