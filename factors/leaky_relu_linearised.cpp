#include "factors/leaky_relu_linearised.h"

#include <algorithm>

#include "factors/normal.h"

namespace dma {

Gaussian LeakyReluLinearised::to_x(const Gaussian& x, const Gaussian& y, Parameters p) {
  if (y.is_uniform() || x.is_uniform()) return Gaussian::uniform();  // of a uniform x the residual is infinite
  if (p.slope == 1) return y;
  double gradient = 0, residual = 0;
  if (x.is_point()) {
    gradient = x.tau > 0 ? 1 : p.slope;
  } else {
    const double u = x.tau / std::sqrt(x.rho), distance = std::min(std::abs(u), normal::kOneSided);
    const normal::Tail beyond = normal::tail(distance);
    const double inside = u > 0 ? 1 - beyond.probability : beyond.probability;  // Phi(u)
    gradient = p.slope + (1 - p.slope) * inside;
    const double spread = normal::rectified_variance(beyond) - beyond.probability * beyond.probability;
    residual = x.variance() * (1 - p.slope) * (1 - p.slope) * std::max(0.0, spread);
  }
  const double mean = x.mean() + (y.mean() - LeakyRelu::to_y(x, p).mean()) / gradient;
  return Gaussian::from_moments(mean, (y.variance() + residual) / (gradient * gradient));
}

}  // namespace dma
