#include "factors/likelihoods/poisson.h"

#include "factors/authoring/from_log_density.h"

namespace dma {

Kind poisson_kind() {
  return likelihood_from_log_density("poisson", &Poisson::log_density, "y counts events of rate exposure exp(x)",
                                     {{"exposure", above(0) & finite(), 1.0}})
      .observes("y", at_least(0) & finite() & whole());
}

}  // namespace dma
