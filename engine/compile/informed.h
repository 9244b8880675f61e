// Compile pass, part of resolve: messages that hold where a port is observed (Kind::only_if_observed).
#pragma once

#include "engine/compile/resolve.h"

namespace dma {

// What is not observed on such a port must be unknown to all others too, so that nothing arrives there; otherwise an
// Error that names the methods for it.
void refuse_if_informed(const Resolved& graph);

}  // namespace dma
