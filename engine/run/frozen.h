// Variables that hear nothing new: messages to them stay as they were when they were frozen, while all others go on.
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
  std::vector<std::uint8_t> is_frozen;  // by slot; empty if no variable is
  std::vector<Kept> kept;
  std::vector<Natural> before, after;  // room for the messages of one operation, so that a run allocates nothing

  bool any() const { return !variables.empty(); }
};

}  // namespace dma
