// Product factor z = x y by expectation propagation: the moments of the marginal, divided by the message that arrives
// on the same edge. Given x, everything else is Gaussian, so one integral over x is left:
//
//   w(x) = N(x; mx, vx) N(mz; x my, vz + x^2 vy)
//
// It has up to three tops, which may lie far from where x's own message is; it is integrated from there (peaks.h). The
// moments of x are those of w. Given x, z has precision 1/vz + 1/(x^2 vy) (product of its message with N(x my, x^2
// vy)), so its moments are averages over w. The quotient may have negative precision: it is returned as it is, to be
// refused and counted by whoever stores it.
#pragma once

#include "factors/arithmetic/product.h"

namespace dma {

struct ProductEp {
  static Gaussian to_z(const Gaussian& x, const Gaussian& y, const Gaussian& z);
  // To the factor `own` arrives from.
  static Gaussian to_factor(const Gaussian& own, const Gaussian& other, const Gaussian& z);
};

}  // namespace dma
