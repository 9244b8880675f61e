#include "factors/likelihoods/greater_than.h"

#include <cmath>

#include "engine/kinds/kind.h"
#include "factors/authoring/normal.h"

namespace dma {

Gaussian GreaterThan::to_x(const Gaussian& x, Parameters p) {
  if (!x.is_proper()) return Gaussian::uniform();
  const double m = x.mean(), sd = x.sd(), u = (m - p.threshold) / sd;
  const double h = normal::hazard(u), bend = u < 0 ? normal::tail(-u).excess : h + u;
  const double fraction = h * x.rho / normal::truncated_variance(u), rho = fraction * bend,
               tau = fraction * (sd + m * bend);
  return closed(tau, rho, [&] { return tau / rho; });
}

double GreaterThan::log_integral(const Gaussian& x, Parameters p) {
  if (x.is_uniform()) return std::log(0.5);
  if (x.is_point()) return log_density(x.tau, p);
  return normal::log_distribution((x.mean() - p.threshold) / x.sd());
}

Kind greater_than_kind() {
  return kind("greater_than", "x > threshold")
      .input("x")
      .optional_parameter("threshold", 0.0, finite())
      .log_density([](auto v, auto p) { return GreaterThan::log_density(v[0], {p[0]}); })
      .log_integral([](auto m, auto p) { return GreaterThan::log_integral(Gaussian(m[0]), {p[0]}); })
      .message<&GreaterThan::to_x>("ep", "x", from("x"));
}

}  // namespace dma
