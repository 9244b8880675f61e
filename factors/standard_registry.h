// The built-in families and kinds. Each kind is defined at the end of its own .cpp (arithmetic/product.cpp).
#pragma once

#include "engine/kinds/registry.h"

namespace dma {

// A fresh copy of the table of built-in kinds; add to it what else a graph needs.
Registry standard_registry();

}  // namespace dma
