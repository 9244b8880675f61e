// Frozen variables: messages to them stay unchanged, while all others are updated.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/graph/graph.h"
#include "engine/messages/gaussian.h"

namespace dma {

struct FrozenMessages {
  struct Kept {
    std::uint32_t slot;
    Natural message;
  };
  std::vector<VariableId> variables;
  std::vector<std::uint8_t> is_frozen;  // by slot; empty if no variable is frozen
  std::vector<Kept> kept;
  std::vector<Natural> before, after;  // buffers for the messages of one operation, so that a run allocates nothing

  bool any() const { return !variables.empty(); }
};

}  // namespace dma
