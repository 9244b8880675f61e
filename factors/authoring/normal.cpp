#include "factors/authoring/normal.h"

namespace dma::normal {

// R(x) = integral over t > 0 of exp(-x t - t^2/2), so R^(n)(x) = (-1)^n I_n(x) with I_n the integral of t^n times the
// same. Integration by parts gives I_(n+1) = n I_(n-1) - x I_n, and I_1 = 1 - x I_0. A Taylor polynomial of R about the
// nearest of evenly spaced nodes needs I_0 to full precision and I_n to (2 * kNodesPerUnit)^n times less.

// The recurrence downwards from I_n = 0 at a large n, where all terms are positive, finally scaled to x I_0 + I_1 = 1.
// Converges like exp(-x sqrt(8 n)).
std::array<double, MillsTable::kTerms> MillsTable::integrals_downwards(double x) {
  constexpr int kStart = 400;
  std::array<double, kTerms> kept{};
  double above = 0, here = 1e300;  // I_(n+1), I_n: I_0 will be about 1e370 times smaller
  for (int n = kStart; n > 0; --n) {
    const double below = (above + x * here) / n;
    above = here;
    here = below;
    if (static_cast<std::size_t>(n) <= kTerms) kept[static_cast<std::size_t>(n) - 1] = here;
  }
  const double scale = 1 / (x * kept[0] + kept[1]);
  for (double& k : kept) k *= scale;
  return kept;
}

// The recurrence upwards from R itself; loses a factor of about x^2 per step, which is acceptable for small x.
std::array<double, MillsTable::kTerms> MillsTable::integrals_upwards(double x) {
  std::array<double, kTerms> kept{};
  kept[0] = distribution(-x) / density(x);
  kept[1] = 1 - x * kept[0];
  for (std::size_t n = 1; n + 1 < kTerms; ++n) kept[n + 1] = static_cast<double>(n) * kept[n - 1] - x * kept[n];
  return kept;
}

// Taylor coefficients (-1)^n I_n / n! at every node.
MillsTable::MillsTable() {
  constexpr double kDownwardsFrom = 1;
  for (std::size_t i = 0; i < kNodes; ++i) {
    const double x = static_cast<double>(i) / kNodesPerUnit;
    const auto integrals = x < kDownwardsFrom ? integrals_upwards(x) : integrals_downwards(x);
    double factor = 1;
    for (std::size_t n = 0; n < kTerms; ++n) {
      nodes_[i].ratio[n / 2][n % 2] = factor * integrals[n];
      factor /= -static_cast<double>(n + 1);
    }
    nodes_[i].exponential = std::exp(-0.5 * x * x);
  }
}

const MillsTable& MillsTable::get() {
  static const MillsTable table;
  return table;
}

}  // namespace dma::normal
