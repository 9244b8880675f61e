#include "factors/likelihoods/greater_than.h"

#include <cmath>

#include "factors/authoring/normal.h"

namespace dma {

Gaussian GreaterThan::to_x(const Gaussian& x, Parameters p) {
  if (!x.is_proper()) return Gaussian::uniform();
  const double m = x.mean(), sd = x.sd(), u = (m - p.threshold) / sd;
  const double h = normal::hazard(u), bend = u < 0 ? normal::tail(-u).excess : h + u;
  const double share = h * x.rho / normal::truncated_variance(u), rho = share * bend, tau = share * (sd + m * bend);
  return closed(tau, rho, [&] { return tau / rho; });
}

double GreaterThan::log_integral(const Gaussian& x, Parameters p) {
  if (x.is_uniform()) return std::log(0.5);
  if (x.is_point()) return log_density(x.tau, p);
  return normal::log_distribution((x.mean() - p.threshold) / x.sd());
}

}  // namespace dma
