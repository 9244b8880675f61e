// Functions that expressions write and that the standard registry has not.
#pragma once

#include "engine/kinds/kind.h"

namespace dma {

Kind ratio_kind();       // "ratio": x / y
Kind reciprocal_kind();  // "reciprocal": 1 / x
Kind logarithm_kind();   // "logarithm": log(x), x above 0

}  // namespace dma
