// The built-in families beside the Gaussian, and the kinds made for them.
#pragma once

#include "engine/kinds/registry.h"

namespace dma {

// log_normal, gamma, beta, bernoulli, categorical(K), dirichlet(K).
void add_families(Registry& registry);
// A prior for each, gaussian_precision, table, mixture, argmax.
void add_kinds_of_families(Registry& registry);

}  // namespace dma
