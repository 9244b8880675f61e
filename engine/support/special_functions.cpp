#include "engine/support/special_functions.h"

#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <boost/math/special_functions/log1p.hpp>
#include <boost/math/special_functions/trigamma.hpp>
#include <cmath>
#include <numbers>

namespace dma {

namespace {

// Inverses do not need more digits on the way; their tables would be filled at the start of every program.
constexpr auto kInDoubles = boost::math::policies::policy<boost::math::policies::promote_double<false>>();

}  // namespace

double log_gamma(double x) {
  using namespace boost::math::policies;
  constexpr policy<overflow_error<ignore_error>, pole_error<ignore_error>, domain_error<ignore_error>,
                   promote_double<false>>
      kNeverThrow;
  return boost::math::lgamma(x, kNeverThrow);
}

double stirling_rest(double x) {
  constexpr double kMany = 20;  // above it, the series has converged to 1e-17 at its last term
  if (x < kMany) return log_gamma(x + 1) - (x + 0.5) * std::log(x) + x - kHalfLogTwoPi;
  const double y = 1 / (x * x);
  return (1.0 / 12 - y * (1.0 / 360 - y * (1.0 / 1260 - y * (1.0 / 1680 - y * (1.0 / 1188 - y * 691 / 360360))))) / x;
}

double log_gamma_half_step(double x) {
  return 0.5 * std::log(x) + (x * std::log1p(0.5 / x) - 0.5) + (stirling_rest(x + 0.5) - stirling_rest(x));
}

double digamma(double x) { return boost::math::digamma(x); }

double trigamma(double x) { return boost::math::trigamma(x); }

double log1p_minus(double x) { return boost::math::log1pmx(x); }

double inverse_erf(double x) { return boost::math::erf_inv(x, kInDoubles); }

double normal_quantile(double probability) {
  return -std::numbers::sqrt2 * boost::math::erfc_inv(2 * probability, kInDoubles);
}

double gamma_quantile(double shape, double probability) {
  return boost::math::gamma_p_inv(shape, probability, kInDoubles);
}

double beta_quantile(double a, double b, double probability) {
  return boost::math::ibeta_inv(a, b, probability, kInDoubles);
}

}  // namespace dma
