// Logarithms of the gamma function, and of its ratios where they would cancel.
#pragma once

#include <boost/math/special_functions/gamma.hpp>
#include <cmath>

namespace dma {

// log |Gamma(x)|: inf where it overflows or has a pole. (std::lgamma writes a global sign, which threads would share.)
inline double log_gamma(double x) {
  using namespace boost::math::policies;
  constexpr policy<overflow_error<ignore_error>, pole_error<ignore_error>, domain_error<ignore_error>,
                   promote_double<false>>
      kNeverThrow;
  return boost::math::lgamma(x, kNeverThrow);
}

inline constexpr double kHalfLogTwoPi = 0.91893853320467274178;

// What Stirling's formula leaves: log Gamma(x) - ((x - 1/2) log x - x + log(2 pi) / 2), for x > 0.
inline double stirling_rest(double x) {
  constexpr double kMany = 20;  // its series is at 1e-17 by its last term
  if (x < kMany) return log_gamma(x + 1) - (x + 0.5) * std::log(x) + x - kHalfLogTwoPi;
  const double y = 1 / (x * x);
  return (1.0 / 12 - y * (1.0 / 360 - y * (1.0 / 1260 - y * (1.0 / 1680 - y * (1.0 / 1188 - y * 691 / 360360))))) / x;
}

// log Gamma(x + 1/2) - log Gamma(x).
inline double log_gamma_half_step(double x) {
  return 0.5 * std::log(x) + (x * std::log1p(0.5 / x) - 0.5) + (stirling_rest(x + 0.5) - stirling_rest(x));
}

}  // namespace dma
