#include "factors/log_copy.h"

namespace dma {

// v/m^2 = 1/(m tau), and log1p keeps its relative accuracy whether it is 1e-24 or 1e20.
LogNormal LogCopy::to_log(const Gaussian& x, Parameters p) {
  if (!(p.sign * x.tau > 0)) return LogNormal::uniform();
  const double mean = p.sign * x.mean();
  if (x.is_point()) return LogNormal::point(mean);
  const double log_variance = std::log1p(1 / (p.sign * x.tau) / mean);
  return LogNormal::from_log_moments(std::log(mean) - 0.5 * log_variance, log_variance);
}

// With e = exp(-(ml + vl/2)) = 1/|mean| and ml + vl/2 = (tau + 1/2) / rho: precision e^2 / expm1(vl), tau = mean
// precision.
Gaussian LogCopy::to_x(const LogNormal& l, Parameters p) {
  if (l.is_uniform()) return Gaussian::uniform();
  if (l.is_point()) return closed(value(l.tau, p), kInfinity, value(l.tau, p));
  const double e = std::exp(-(l.tau + 0.5) / l.rho);
  const double tau = e / std::expm1(1 / l.rho);
  return closed(p.sign * tau, e * tau, p.sign / e);
}

}  // namespace dma
