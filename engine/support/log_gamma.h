// log |Gamma(x)|: inf where it overflows or has a pole. (std::lgamma writes a global sign, which threads would share.)
#pragma once

#include <boost/math/special_functions/gamma.hpp>

namespace dma {

inline double log_gamma(double x) {
  using namespace boost::math::policies;
  constexpr policy<overflow_error<ignore_error>, pole_error<ignore_error>, domain_error<ignore_error>,
                   promote_double<false>>
      kNeverThrow;
  return boost::math::lgamma(x, kNeverThrow);
}

}  // namespace dma
