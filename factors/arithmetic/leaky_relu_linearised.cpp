#include "factors/arithmetic/leaky_relu_linearised.h"

#include <algorithm>

#include "factors/authoring/normal.h"

namespace dma {

Gaussian LeakyReluLinearised::to_x(const Gaussian& x, const Gaussian& y, Parameters p) {
  if (y.is_uniform() || x.is_uniform()) return Gaussian::uniform();  // a uniform x makes the residual variance infinite
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

// With R Mills' ratio, P(X > u) = phi(u) R(u) and E max(0, X - u) = -phi(u) R'(u): within the table no division is
// needed. Slots of one unit are consecutive and share their variance.
void LeakyReluLinearised::linear_view(const LinearCall& call) {
  const normal::MillsTable& table = normal::MillsTable::get();
  double last_variance = 0, sd = 0, per_sd = 0;
  for (std::size_t s = 0; s < call.slots; ++s) {
    const Parameters p{call.parameter_row(s).number(0)};
    const double x = call.values[s], variance = call.variances != nullptr ? call.variances[s] : 0;
    double value = LeakyRelu::value(x, p), gain = x > 0 ? 1 : p.slope, variance_gain = 0;
    if (variance > 0) {
      if (variance != last_variance) {
        last_variance = variance;
        sd = std::sqrt(variance);
        per_sd = 1 / sd;
      }
      const double u = std::abs(x) * per_sd, bend = 1 - p.slope;
      double density = 0, probability = 0, rectified = 0;  // phi(u), P(X > u), E max(0, X - u)
      if (u < normal::kMillsEnd) {
        const normal::Mills mills = table.at(u);
        density = normal::kInverseSqrtTwoPi * table.exponential(u);
        probability = density * mills.ratio;
        rectified = -density * mills.derivative;
      } else if (u < normal::kOneSided) {
        const normal::Tail beyond = normal::tail(u);
        density = beyond.density;
        probability = beyond.probability;
        rectified = beyond.probability * beyond.excess;
      }
      value += bend * sd * rectified;
      gain += (x > 0 ? -bend : bend) * probability;
      variance_gain = 0.5 * bend * density * per_sd;
    }
    call.value[s] = value;
    if (call.gains != nullptr) call.gains[s] = gain;
    if (call.variance_gains != nullptr) call.variance_gains[s] = variance_gain;
  }
}

}  // namespace dma
