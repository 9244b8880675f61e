#include "tools/experiments/paper/validation/appendix_c.h"

#include "tools/dma/io/write_file.h"

namespace dma::validation {

Findings appendix_c(const std::filesystem::path& out, const AppendixOptions& options) {
  Findings all;
  all.add(master_theorem(out));
  all.add(bound_tightness(out));
  all.add(snr_sweep(out, options));
  all.add(copy_factor(out));
  all.add(product_marginals(out, options));
  all.add(relu_marginals(out, options));
  write_file(out / "validation.md", markdown(all, "Appendix C: empirical validation of the message approximations"));
  all.files.push_back("validation.md");
  return all;
}

}  // namespace dma::validation
