// The built-in families beside the Gaussian, listed in one place.
#pragma once

#include "engine/kinds/registry.h"

namespace dma {

// log_normal, gamma, beta, bernoulli, categorical(K), dirichlet(K).
void add_families(Registry& registry);

}  // namespace dma
