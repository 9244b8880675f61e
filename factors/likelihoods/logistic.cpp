#include "factors/likelihoods/logistic.h"

#include "factors/authoring/from_function.h"

namespace dma {

Kind logistic_kind() {
  return likelihood_from_log_density("logistic", &Logistic::log_density, "y > 0 with probability 1 / (1 + exp(-x))", {},
                                     true)
      .observes("y", one_of({-1, 0, 1}));
}

}  // namespace dma
