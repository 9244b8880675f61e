// Sixty-digit arithmetic for oracles. The paper's own formulas subtract second moments: at |mean| / sd = 1e12 that
// costs 24 digits, and a truncated variance at -3e4 costs 18. Sixty digits leave more than twice as many digits as a
// double has.
#pragma once

#include <boost/math/constants/constants.hpp>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <limits>
#include <utility>

#include "engine/messages/gaussian.h"

namespace dma::oracle {

using Real = boost::multiprecision::number<boost::multiprecision::cpp_bin_float<60>, boost::multiprecision::et_off>;

struct Moments {
  Real mean;
  Real variance;
};

// The moments of a proper message, read from its two doubles without rounding.
inline Moments exact(const Natural& message) {
  const Real variance = 1 / Real(message.rho);
  return {message.tau * variance, variance};
}

inline Real pi() { return boost::math::constants::pi<Real>(); }

inline Real phi(const Real& t) {
  static const Real root = sqrt(2 * pi());
  return exp(-t * t / 2) / root;
}

// phi(t), and the masses of a standard normal below and above t.
struct Halves {
  Real density, below, above;
};

// By the series t + t^3/3 + t^5/15 + ... of (Phi - 1/2) / phi, which leaves 45 digits of the tail at 8, and beyond by
// Mills' continued fraction. Beyond 5e4 both tails exceed even this type's exponent range; they are 0 or 1 to every
// digit. boost::math::erfc agrees (tests/factors/authoring/normal_test.cpp) and takes ten times as long.
inline Halves halves(const Real& t) {
  const Real size = abs(t), square = t * t;
  Halves out{0, 1, 0};
  if (size < 8) {
    static const Real end("1e-61");
    Real sum = size, term = size;
    for (unsigned odd = 3; term > sum * end; odd += 2) sum += term = term * square / odd;
    out.density = phi(t), out.above = 0.5 - out.density * sum;
  } else if (size <= 50'000) {
    Real ratio = size;
    for (int n = 12 + static_cast<int>(800 / size); n > 0; --n) ratio = size + n / ratio;
    out.density = phi(t), out.above = out.density / ratio;
  }
  out.below = 1 - out.above;
  if (t < 0) std::swap(out.below, out.above);
  return out;
}

inline Real Phi(const Real& t) { return halves(t).below; }

// log Gamma(x) and its derivative, x > 0.
Real log_gamma(Real x);
Real digamma(Real x);

inline double relative_error(double value, const Real& truth) {
  return static_cast<double>(abs(Real(value) - truth) / abs(truth));
}

}  // namespace dma::oracle
