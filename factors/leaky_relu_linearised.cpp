#include "factors/leaky_relu_linearised.h"

#include <algorithm>

#include "factors/normal.h"

namespace dma {

Gaussian LeakyReluLinearised::to_x(const Gaussian& x, const Gaussian& y, Parameters p) {
  if (y.is_uniform() || x.is_uniform()) return Gaussian::uniform();  // of a uniform x the residual is infinite
  if (p.slope == 1) return y;
  if (x.is_point()) return scaled(y, 1 / (x.tau > 0 ? 1 : p.slope));
  const double bend = 1 - p.slope, sd = 1 / std::sqrt(x.rho), u = x.tau * sd;
  const normal::Tail beyond = normal::tail(std::min(std::abs(u), normal::kOneSided));
  const double inside = u > 0 ? 1 - beyond.probability : beyond.probability;  // Phi(u)
  const double gradient = p.slope + bend * inside;
  const double spread = normal::rectified_variance(beyond) - beyond.probability * beyond.probability;
  const double residual = bend * bend * std::max(0.0, spread), offset = bend * sd * beyond.density;
  if (y.is_point()) {
    const double rho = gradient * gradient * x.rho / residual, mean = (y.tau - offset) / gradient;
    return closed(rho * mean, rho, mean);
  }
  const double weight = gradient * x.rho / (x.rho + y.rho * residual);
  const double tau = weight * (y.tau - y.rho * offset), rho = weight * gradient * y.rho;
  return closed(tau, rho, [&] { return tau / rho; });
}

}  // namespace dma
