// The built-in kinds.
#pragma once

#include "engine/kinds/registry.h"

namespace dma {

// A fresh copy of the table of built-in kinds; add to it what else a graph needs.
Registry standard_registry();

}  // namespace dma
