// One marginal of one factor three ways: the message approximation, importance sampling as in the paper, quadrature.
#pragma once

#include <string_view>

#include "engine/certify/sampling.h"
#include "tools/experiments/paper/figures/appendix_c.h"

namespace dma::validation {

struct Marginal {
  Gaussian belief;           // the method's: message times incoming
  Histogram histogram = {};  // 500 bins of the weighted samples
  double sampled = 0;        // KL(histogram || belief)
  double floor = 0;          // bias of `sampled` from finite samples
  double exact = 0;          // the same KL by quadrature
};

Marginal marginal(std::string_view kind, const Scenario& scenario, std::string_view port,
                  const AppendixOptions& options);

// The two pictures of a marginal: filled samples, the belief over them.
plot::Panel marginal_panel(std::string title, std::string label, const Marginal& marginal);

}  // namespace dma::validation
