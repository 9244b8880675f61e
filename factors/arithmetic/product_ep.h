// Product factor z = x y by expectation propagation: the moments of the marginal, divided by the message that arrives
// on the same edge. Given x, everything else is Gaussian, which leaves one integral over x:
//
//   w(x) = N(x; mx, vx) N(mz; x my, vz + x^2 vy)
//
// It has up to three peaks, which may lie far from x's own message; the integration starts at them (peaks.h). The
// moments of x are those of w. Given x, z has precision 1/vz + 1/(x^2 vy) (product of its message with N(x my, x^2
// vy)), so its moments are averages over w. The quotient may have negative precision: it is returned unchanged, and the
// caller that stores it refuses and counts it.
#pragma once

#include "factors/arithmetic/product.h"

namespace dma {

struct ProductEp {
  static Gaussian to_z(const Gaussian& x, const Gaussian& y, const Gaussian& z);
  // To the input whose message is `own`.
  static Gaussian to_factor(const Gaussian& own, const Gaussian& other, const Gaussian& z);
};

}  // namespace dma
