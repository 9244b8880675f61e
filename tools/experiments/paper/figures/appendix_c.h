// Appendix C of the paper, figure by figure: each function adds one figure's picture, and its claims beside the
// paper's.
#pragma once

#include "tools/experiments/paper/experiment.h"

namespace dma::validation {

using reproduce::Section;

struct AppendixOptions {
  int samples = 500'000;  // samples per importance-sampling reference (App. C.3)
  std::uint64_t seed = 1;
};

void master_theorem(Section& section);                                     // C.1
void bound_tightness(Section& section);                                    // C.2
void snr_sweep(Section& section, const AppendixOptions& options);          // C.3
void copy_factor(Section& section);                                        // C.4
void product_marginals(Section& section, const AppendixOptions& options);  // C.5
void relu_marginals(Section& section, const AppendixOptions& options);     // C.6

}  // namespace dma::validation
