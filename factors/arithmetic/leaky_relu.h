// Leaky rectifier: f(x, y) = delta(y - max(0, x) - slope min(0, x)), 0 < slope <= 1.
//
// Both messages match the first two moments of the exact one (Props. 3.4 and 3.5), written so that the variance is a
// sum of non-negative terms. Slope 1 is the identity, bit for bit. Slope 0 is allowed towards y only: towards x the
// exact message has infinite mass on the negative half-line (Remark B.6) and the result is uniform; use a small
// positive slope.
#pragma once

#include "engine/kinds/block_loop.h"

namespace dma {

struct LeakyRelu {
  struct Parameters {
    double slope;
  };

  static double value(double x, Parameters p) { return x > 0 ? x : p.slope * x; }

  // The x with value(x) = y.
  static double inverse(double y, Parameters p) { return y > 0 ? y : y / p.slope; }

  static Gaussian to_y(const Gaussian& x, Parameters p);
  static Gaussian to_x(const Gaussian& y, Parameters p);

  // Beyond normal::kMillsEnd standard deviations from the kink, the other side has probability < 1e-57: dividing by the
  // slope cubed cannot make it matter, unless the slope is tiny.
  static constexpr double kTinySlope = 1e-10;

  // The same for many messages that share a slope.
  static void many_to_y(const double* tau, const double* rho, std::size_t count, double slope, double* to_tau,
                        double* to_rho);
  static void many_to_x(const double* tau, const double* rho, std::size_t count, double slope, double* to_tau,
                        double* to_rho);
  // ... and for blocks; declines slopes that differ from slot to slot.
  static bool block_to_y(const SlotBlock& block);
  static bool block_to_x(const SlotBlock& block);
};

}  // namespace dma
