// Equality of k variables: f(x_1, ..., x_k) = prod_j delta(x_j - x_1). The exact message to x_j is the product of all
// the messages that arrive from the others: natural parameters add, and nothing is ever divided out.
#pragma once

#include <span>

#include "engine/gaussian.h"

namespace dma {

struct Copy {
  // out[j] = product of in[k] over k != j, all in O(k), allocating nothing. `out` has the size of `in` and does not
  // overlap it. A point mass decides every message it enters; of several, the first one does.
  static void to_all(std::span<const Gaussian> in, std::span<Gaussian> out);
};

}  // namespace dma
