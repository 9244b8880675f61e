// The experiments of the paper: each function writes a section from the results of the fits that experiments() lists.
#pragma once

#include "tools/experiments/paper/writer.h"

namespace dma::reproduce {

void write_regression(Writer&), write_adam(Writer&), write_adamw(Writer&), write_ep(Writer&), write_ivon(Writer&),
    write_laplace(Writer&), write_calibration(Writer&), write_mismatch(Writer&), write_large(Writer&),
    write_validation(Writer&), write_coverage(Writer&), write_exact(Writer&);

// Units beside fits: IVON's grid of settings, and certificates.
std::vector<Unit> ivon_grid(const Options&options), certificates(const Options&options);

// Appendix C, figure by figure.
void master_theorem(Writer&);     // C.1
void bound_tightness(Writer&);    // C.2
void snr_sweep(Writer&);          // C.3
void copy_factor(Writer&);        // C.4
void product_marginals(Writer&);  // C.5
void relu_marginals(Writer&);     // C.6

// The leaky-ReLU backward message of C.1 and C.2 in one setting. r = |mean_y| / sd_y fixes the message from y only up
// to its mean, and the mean of the incoming message is not stated either: the defaults were picked after a scan of some
// 600 combinations, because with them most of what the text says of Fig. C.2 comes out, among it 0.68 as the largest
// ratio of the width sweep up to 2. Agreement of that number is therefore fitted, not evidence.
struct ReluSetting {
  double slope = 0.3, width = 1, r = 2;  // alpha, sigma_x, r
  double mean_y = 1, mean_x = 0.5;
};
// The error of the message, the error of the marginal and its bound, by quadrature to 1e-10 of the masses.
struct ReluError {
  double delta, marginal, bound;
  double ratio() const { return bound > 0 ? marginal / bound : 0.0; }
};
ReluError relu_error(const ReluSetting& setting);

}  // namespace dma::reproduce
