// The noise variance that explains residuals best.
#pragma once

#include <span>

namespace dma {

// The b > 0 that maximises sum_n log N(y_n; m_n, v_n + b) for fixed predictions (m_n, v_n): one number for all, found by
// bisection in log b. `smallest` bounds it from below.
double most_likely_noise(std::span<const double> squared_residuals, std::span<const double> variances, double smallest);

}  // namespace dma
