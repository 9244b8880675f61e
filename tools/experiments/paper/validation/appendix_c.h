// Appendix C of the paper, figure by figure: each function computes one figure, writes its picture and its numbers to a
// folder, and says which claims hold.
#pragma once

#include <cstdint>

#include "tools/experiments/paper/validation/findings.h"

namespace dma::validation {

struct AppendixOptions {
  int samples = 500'000;  // of each importance-sampling reference (App. C.3)
  std::uint64_t seed = 1;
};

Findings master_theorem(const std::filesystem::path& out);                                     // C.1
Findings bound_tightness(const std::filesystem::path& out);                                    // C.2
Findings snr_sweep(const std::filesystem::path& out, const AppendixOptions& options);          // C.3
Findings copy_factor(const std::filesystem::path& out);                                        // C.4
Findings product_marginals(const std::filesystem::path& out, const AppendixOptions& options);  // C.5
Findings relu_marginals(const std::filesystem::path& out, const AppendixOptions& options);     // C.6

// All of them, and out/validation.md.
Findings appendix_c(const std::filesystem::path& out, const AppendixOptions& options = {});

}  // namespace dma::validation
