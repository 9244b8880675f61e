// Product factor z = x y, linearised: under the incoming messages the best linear fit of x y is
//
//   z = mx my + my (x - mx) + mx (y - my) + e,      Var e = vx vy,
//
// and the messages are those of that linear factor: always proper, closed form. Towards z they equal Prop. 3.1. To x: z
// = my x + (mx (y - my) + e) has noise of variance vz + mx^2 vy + vx vy, so
//
//   rho = my^2 / d,   tau = my mz / d,   d = vz + vy (mx^2 + vx)
//
// and to y by symmetry. The message to x depends on the message from x: it is no direct message in the sense of
// Definition 2.1.
#pragma once

#include "factors/arithmetic/product.h"

namespace dma {

struct ProductLinearised {
  static Gaussian to_z(const Gaussian& x, const Gaussian& y) { return Product::to_z(x, y); }

  // To the input whose message is `own`, given the other input and z.
  static Gaussian to_factor(const Gaussian& own, const Gaussian& other, const Gaussian& z) {
    if (z.is_uniform() || other.is_uniform()) return Gaussian::uniform();
    if (other.is_point()) return Product::to_factor(other, z);  // linear already
    if (own.is_uniform() || other.tau == 0) return Gaussian::uniform();  // d is infinite: uniform
    const double m = other.mean(), v = other.variance(), own_mean = own.mean();
    const double d = z.variance() + v * (own_mean * own_mean + own.variance());
    return closed(m * z.mean() / d, m / d * m, [&] { return z.mean() / m; });
  }
};

}  // namespace dma
