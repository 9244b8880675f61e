// A program of somebody else: knows only the installed package.
#include <cmath>

#include "engine/messages/gaussian.h"

int main() {
  const auto belief = dma::Gaussian::from_moments(1.0, 2.0) * dma::Gaussian::from_moments(3.0, 2.0);
  const bool right = std::abs(belief.mean() - 2.0) < 1e-12 && std::abs(belief.variance() - 1.0) < 1e-12;
  return right && std::isfinite(dma::log_density(belief, 0.0)) ? 0 : 1;
}
