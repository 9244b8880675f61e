// App. C: how good the message approximations are.
#include "tools/experiments/paper/figures/appendix_c.h"

namespace dma::reproduce {

std::vector<Unit> validation_units(const Options&) { return {}; }

Section validation_report(const Options& options, const Results&) {
  Section section{"validation", "Appendix C: how good the message approximations are"};
  validation::AppendixOptions own;
  if (options.quick) own.samples /= 10;
  validation::master_theorem(section);
  validation::bound_tightness(section);
  validation::snr_sweep(section, own);
  validation::copy_factor(section);
  validation::product_marginals(section, own);
  validation::relu_marginals(section, own);
  for (Claim& claim : section.claims)
    if (!claim.holds) claim.why = "Computed by quadrature, without sampling: see the notes above.";
  return section;
}

}  // namespace dma::reproduce
