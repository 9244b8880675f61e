// Leaky rectifier by expectation propagation: the moments of the marginal, divided by the message that arrives on the
// same edge. The marginal of x has two pieces, x's message times y's at y = x for x > 0 and at y = slope x for x <= 0.
// Each is a Gaussian cut at 0; up to a shared factor
//
//  x > 0:   exp(tau1 x - rho1 x^2 / 2)    tau1 = tau_x + tau_y          rho1 = rho_x + rho_y
//  x <= 0:  exp(tau2 x - rho2 x^2 / 2)    tau2 = tau_x + slope tau_y    rho2 = rho_x + slope^2 rho_y
//
// with mass sqrt(2 pi / rho) exp(u^2 / 2) Phi(u) on its side, u1 = tau1 / sqrt(rho1), u2 = -tau2 / sqrt(rho2). The
// quotient may have negative precision: it is returned unchanged, and the caller that stores it refuses and counts it.
// `to_x_or_linearised` returns the linearised message instead.
#pragma once

#include "factors/arithmetic/leaky_relu.h"

namespace dma {

struct LeakyReluEp {
  using Parameters = LeakyRelu::Parameters;

  static Gaussian to_y(const Gaussian& x, const Gaussian& y, Parameters p);
  static Gaussian to_x(const Gaussian& x, const Gaussian& y, Parameters p);
  static GaussianOrFallback to_x_or_linearised(const Gaussian& x, const Gaussian& y, Parameters p);

  static bool block_to_x_or_linearised(const SlotBlock& block);  // reads x, y; declines slopes that differ
};

}  // namespace dma
