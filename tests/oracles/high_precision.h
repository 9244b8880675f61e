// Sixty-digit arithmetic for oracles. The paper's own formulas subtract second moments: at |mean| / sd = 1e12 that
// costs 24 digits, and a truncated variance at -3e4 costs 18. Sixty digits leave more than twice a double's after
// either.
#pragma once

#include <boost/math/special_functions/erf.hpp>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <limits>

#include "engine/messages/gaussian.h"

namespace dma::oracle {

using Real = boost::multiprecision::number<boost::multiprecision::cpp_bin_float<60>, boost::multiprecision::et_off>;

struct Moments {
  Real mean;
  Real variance;
};

// The moments of a proper message, read from its two doubles without rounding.
inline Moments exact(const Natural& message) { return {Real(message.tau) / Real(message.rho), 1 / Real(message.rho)}; }

inline Real pi() { return boost::math::constants::pi<Real>(); }

inline Real phi(const Real& t) { return exp(-t * t / 2) / sqrt(2 * pi()); }

// Beyond 5e4 both tails leave even this type's exponent range; the result there is 0 or 1 to every digit.
inline Real Phi(const Real& t) {
  if (abs(t) > 50'000) return t > 0 ? 1 : 0;
  return boost::math::erfc(-t / sqrt(Real(2))) / 2;
}

inline double relative_error(double value, const Real& truth) {
  return static_cast<double>(abs(Real(value) - truth) / abs(truth));
}

}  // namespace dma::oracle
