#include "tools/experiments/paper/figures.h"

namespace dma::reproduce {

const std::vector<Experiment>& experiments() {
  static const std::vector<Experiment> all = {
      {"regression", "Section 4.3: one-dimensional regression", "Section 4.3: one-dimensional regression, Figure 2",
       &write_regression, "small", own_methods()},
      {"adam", "Appendix E.2: Adam", "Appendix E.2: Adam at four learning rates", &write_adam, "small",
       own_and({"dma-tolerance-0.03", "dma-tolerance-0.01", "adam-0.001", "adam-0.01", "adam-0.1", "adam-1",
                "adam-0.01-batches-20"})},
      {"adamw", "Appendix E.3, Table 3: AdamW", "Appendix E.3, Table 3: AdamW", &write_adamw, "small",
       own_and({"adam-0.1", "adamw-0.1-0.01", "adamw-0.1-0.1", "adamw-0.1-1", "adamw-0.1-10", "adamw-0.01-1",
                "adamw-1-1"})},
      // EP through a product is one quadrature per weight: a quick run has one seed.
      {"ep",
       "Appendix E.4: expectation propagation",
       "Appendix E.4: standard Gaussian EP on the same network",
       &write_ep,
       "small",
       {"ep", "ep-relu", "ep-product", "dma"},
       nullptr,
       1'000'000,
       1},
      {"ivon", "Appendix E.5: IVON", "Appendix E.5: IVON", &write_ivon, "small", own_and({"ivon", "ivon-tuned"}),
       &ivon_grid},
      {"laplace", "Appendix E.6: diagonal Laplace", "Appendix E.6: the diagonal Laplace approximation", &write_laplace,
       "small", own_and({"laplace"})},
      {"calibration", "Appendix E.7, Table 4: calibration", "Appendix E.7, Table 4: calibration", &write_calibration,
       "small", own_and({"laplace", "linear"})},
      {"mismatch", "Appendix F, Table 5: model mismatch", "Appendix F, Table 5: model mismatch", &write_mismatch,
       "mismatch", own_and({"adam-0.1", "adamw-0.1-0.01", "adamw-0.1-0.1", "adamw-0.1-1", "adamw-0.1-10", "laplace"})},
      // A fit takes seconds, by default most of a minute: one Gaussian over 1,932 weights. The paper has one seed.
      {"large",
       "Appendix G, Table 6: the network of 1,932 weights",
       "Appendix G, Table 6: 6-6-12-48-24-4 with 1,500 rows",
       &write_large,
       "large",
       own_and({"adam-0.001", "adam-0.01", "adam-0.1", "adam-1", "adamw-0.1-0.1", "laplace"}),
       nullptr,
       5,
       1,
       {"default"}},
      {"validation", "Appendix C: how good the message approximations are",
       "Appendix C: how good the message approximations are", &write_validation},
      {"coverage",
       "Appendix B, Table 2: which theorem covers what",
       "Appendix B, Table 2: theorem coverage by factor and direction",
       &write_coverage,
       "",
       {},
       &certificates},
      // The longest fits first, so that no thread is left with one at the end.
      {"exact",
       "The exact posterior, which the paper lacks",
       "The exact posterior, which the paper lacks",
       &write_exact,
       "small",
       {"exact", "exact-own", "dma", "default", "laplace", "ivon-tuned", "adam-0.1", "adamw-0.1-1", "linear",
        "dma-prior", "laplace-prior", "joint", "joint-one", "joint-linear"}},
  };
  return all;
}

}  // namespace dma::reproduce
