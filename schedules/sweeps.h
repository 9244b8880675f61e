// The halves that sweeping schedules are made of.
#pragma once

#include <vector>

#include "engine/compile/schedule.h"

namespace dma {

using Levels = std::vector<std::vector<std::uint32_t>>;

// Forward visit: refresh what arrives on the inputs, send to the outputs.
inline void append_forward(const Flow& flow, const Levels& levels, std::vector<Visit>& visits) {
  for (const auto& level : levels)
    for (const std::uint32_t f : level) visits.push_back({f, flow.inputs(f), flow.outputs(f) & flow.targets(f)});
}

// Backward visit: the same with inputs and outputs exchanged.
inline void append_backward(const Flow& flow, const Levels& levels, std::vector<Visit>& visits) {
  for (auto level = levels.rbegin(); level != levels.rend(); ++level)
    for (const std::uint32_t f : *level) visits.push_back({f, flow.outputs(f), flow.inputs(f) & flow.targets(f)});
}

// Topological levels; where the data flow has a cycle, one for each factor in the order in which they were added, so
// that the way back is the way there reversed.
inline Levels levels_or_all(const Flow& flow) {
  if (flow.is_acyclic()) return flow.levels();
  Levels all;
  for (std::uint32_t f = 0; f < flow.factors(); ++f) all.push_back({f});
  return all;
}

}  // namespace dma
