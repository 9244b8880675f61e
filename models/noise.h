// The noise variance that explains residuals best.
#pragma once

#include <span>
#include <vector>

namespace dma {

// The b > 0 that maximises sum_n log N(y_n; m_n, v_n + b) for fixed predictions (m_n, v_n): one number for all, found by
// bisection in log b. `smallest` bounds it from below.
double most_likely_noise(std::span<const double> squared_residuals, std::span<const double> variances, double smallest);

// Predictions of one network for all examples, without noise.
struct ComponentPredictions {
  std::vector<double> means, variances;
};

// The b that maximises sum_n log (mean over components k of N(y_n; m_kn, v_kn + b)), within [smallest, largest]: found by
// golden-section search in log b. With one component this is most_likely_noise.
double most_likely_mixture_noise(std::span<const ComponentPredictions> components, std::span<const double> targets,
                                 double smallest, double largest);

}  // namespace dma
