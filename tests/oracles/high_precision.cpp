#include "tests/oracles/high_precision.h"

#include <boost/math/special_functions/bernoulli.hpp>

namespace dma::oracle {

// Both by their series in 1 / x for x >= 60.
Real log_gamma(Real x) {
  Real skipped = 1;
  for (; x < 60; x += 1) skipped *= x;
  Real sum = (x - 0.5) * log(x) - x + log(2 * pi()) / 2 - log(skipped), power = x;
  for (int k = 1; k <= 40; ++k, power *= x * x)
    sum += boost::math::bernoulli_b2n<Real>(k) / (2 * k * (2 * k - 1) * power);
  return sum;
}

Real digamma(Real x) {
  Real sum = 0;
  for (; x < 60; x += 1) sum -= 1 / x;
  sum += log(x) - 1 / (2 * x);
  Real power = 1;
  for (int k = 1; k <= 40; ++k) sum -= boost::math::bernoulli_b2n<Real>(k) / (2 * k * (power *= x * x));
  return sum;
}

}  // namespace dma::oracle
