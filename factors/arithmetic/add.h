// Addition of two variables: f(x, y, z) = delta(z - x - y). All messages are exact; means and variances add or
// subtract.
#pragma once

#include "engine/kinds/block_loop.h"
#include "engine/kinds/linear_view.h"

namespace dma {

struct Add {
  static double value(double x, double y) { return x + y; }

  static Gaussian to_z(const Gaussian& x, const Gaussian& y) {
    return Gaussian::from_moments(x.mean() + y.mean(), x.variance() + y.variance());
  }
  // To x given y, or to y given x.
  static Gaussian to_term(const Gaussian& other, const Gaussian& z) {
    return Gaussian::from_moments(z.mean() - other.mean(), z.variance() + other.variance());
  }

  static void linear_view(const LinearCall& call);

  // The same for blocks of proper messages.
  static bool block_to_z(const SlotBlock& block);
  static bool block_to_term(const SlotBlock& block);  // reads other, z
};

}  // namespace dma
