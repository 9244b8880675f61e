// Equality of k variables: f(x_1, ..., x_k) = prod_j delta(x_j - x_1). The exact message to x_j is the product of the
// messages from all others: natural parameters add, and nothing is divided out.
#pragma once

#include <span>

#include "engine/kinds/block_loop.h"
#include "engine/kinds/linear_view.h"
#include "engine/messages/gaussian.h"

namespace dma {

struct Copy {
  // out[j] = product of in[k] over k != j, for all j, in O(k) without allocation. `out` has the size of `in` and does
  // not overlap it. A point mass overrides all other messages; among several, the first does.
  static void to_all(std::span<const Gaussian> in, std::span<Gaussian> out);

  // The factor kind treats one variable separately: x, and all its copies. log of the integral of the product of all.
  static double log_integral(std::span<const Natural> all);
  static Gaussian to_x(std::span<const Gaussian> copies);
  static void to_copies(const Gaussian& x, std::span<const Gaussian> copies, std::span<Gaussian> out);

  static void linear_view(const LinearCall& call);

  // The same for blocks of slots without point masses.
  static bool block_to_x(const SlotBlock& block);       // reads copies
  static bool block_to_copies(const SlotBlock& block);  // reads x, copies
};

}  // namespace dma
