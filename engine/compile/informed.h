// Compile pass, part of resolve: messages that hold where a port is observed (Kind::only_if_observed).
#pragma once

#include "engine/compile/resolve.h"

namespace dma {

// Throws an Error that names other methods where a variable on such a port is neither observed nor unknown to all
// others, so that something arrives there.
void refuse_if_informed(const Resolved& graph);

}  // namespace dma
