// The leaky-ReLU backward message of Apps. C.1 and C.2 in one setting: its error, the error of the marginal, the bound.
#pragma once

namespace dma::validation {

// r = |mean_y| / sd_y fixes the message from y only up to its mean; the mean of the incoming message is not stated
// either; see kChosenMeanY.
struct ReluSetting {
  double slope = 0.3, width = 1, r = 2;  // alpha, sigma_x, r
  double mean_y = 1, mean_x = 0.5;
};

// Picked after a scan of some 600 combinations of mean_y or sd_y, sign and mean_x, because with it most of what the
// text says of Fig. C.2 comes out, among it 0.68 as the largest ratio of the width sweep up to 2. Agreement of that
// number is therefore fitted, not evidence.
inline constexpr double kChosenMeanY = 1, kChosenMeanX = 0.5;

struct ReluError {
  double delta, marginal, bound;
  double ratio() const { return bound > 0 ? marginal / bound : 0.0; }
};

// By quadrature (no sampling), to 1e-10 of the masses.
ReluError relu_error(const ReluSetting& setting);

}  // namespace dma::validation
