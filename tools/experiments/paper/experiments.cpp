#include <algorithm>

#include "tools/experiments/paper/experiment.h"

namespace dma::reproduce {

Effort Options::effort() const {
  if (!quick) return {};
  return {.hmc_chains = 2,
          .hmc_warm_up = 400,
          .hmc_samples = 600,
          .hmc_longest = 48,
          .posterior_samples = 200,
          .ivon_epochs = 100,
          .epochs = 40};
}

std::vector<std::uint64_t> Options::all_seeds() const {
  std::vector<std::uint64_t> all;
  for (int i = 0; i < seeds; ++i) all.push_back(seed + static_cast<std::uint64_t>(i));
  return all;
}

std::vector<std::uint64_t> Options::large_seeds() const {
  constexpr std::size_t kMost = 5;
  std::vector<std::uint64_t> some = all_seeds();
  some.resize(std::min(some.size(), quick ? 1 : kMost));
  return some;
}

const std::vector<Experiment>& experiments() {
  static const std::vector<Experiment> all = {
      {"regression", "Section 4.3: one-dimensional regression", &regression_units, &regression_report},
      {"adam", "Appendix E.2: Adam", &adam_units, &adam_report},
      {"adamw", "Appendix E.3, Table 3: AdamW", &adamw_units, &adamw_report},
      {"ep", "Appendix E.4: expectation propagation", &ep_units, &ep_report},
      {"ivon", "Appendix E.5: IVON", &ivon_units, &ivon_report},
      {"laplace", "Appendix E.6: diagonal Laplace", &laplace_units, &laplace_report},
      {"calibration", "Appendix E.7, Table 4: calibration", &calibration_units, &calibration_report},
      {"mismatch", "Appendix F, Table 5: model mismatch", &mismatch_units, &mismatch_report},
      {"large", "Appendix G, Table 6: the network of 1,932 weights", &large_units, &large_report},
      {"validation", "Appendix C: how good the message approximations are", &validation_units, &validation_report},
      {"coverage", "Appendix B, Table 2: which theorem covers what", &coverage_units, &coverage_report},
      {"exact", "The exact posterior, which the paper lacks", &exact_units, &exact_report},
  };
  return all;
}

}  // namespace dma::reproduce
