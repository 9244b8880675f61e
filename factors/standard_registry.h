// The built-in families and kinds. Each kind is defined at the end of its own .cpp (arithmetic/product.cpp).
#pragma once

#include "engine/kinds/registry.h"

namespace dma {

// A fresh copy of the registry of built-in kinds; add your own kinds to it.
Registry standard_registry();

}  // namespace dma
