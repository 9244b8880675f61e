// Variational message passing through deterministic factors, for comparison. For delta(z - g(x)) taken as the limit of
// N(z; g(x), e), e -> 0, the message exp(E_q[log N]) has precision proportional to 1/e: every message is a point mass,
// and no variance survives.
//
//   product     to z: mx my      to x: argmin_x E[(z - x y)^2] = mz my / (my^2 + vy)
//   leaky_relu  to y: E[g(x)]    to x: g^-1(my)
#pragma once

#include "factors/arithmetic/leaky_relu.h"
#include "factors/arithmetic/product.h"

namespace dma {

struct ProductVmp {
  static Gaussian to_z(const Gaussian& x, const Gaussian& y) {
    if (x.is_uniform() || y.is_uniform()) return Gaussian::uniform();
    return Gaussian::point(x.mean() * y.mean());
  }
  static Gaussian to_factor(const Gaussian& other, const Gaussian& z) {
    const double square = other.mean() * other.mean() + other.variance();
    if (other.is_uniform() || z.is_uniform() || square == 0) return Gaussian::uniform();
    return Gaussian::point(z.mean() * other.mean() / square);
  }
};

struct LeakyReluVmp {
  using Parameters = LeakyRelu::Parameters;
  static Gaussian to_y(const Gaussian& x, Parameters p) {
    return x.is_uniform() ? Gaussian::uniform() : Gaussian::point(LeakyRelu::to_y(x, p).mean());
  }
  static Gaussian to_x(const Gaussian& y, Parameters p) {
    return y.is_uniform() ? Gaussian::uniform() : Gaussian::point(LeakyRelu::inverse(y.mean(), p));
  }
};

}  // namespace dma
