#include "factors/likelihoods/weibull.h"

#include <cmath>

#include "factors/authoring/from_function.h"

namespace dma {

double Weibull::log_density(double x, double y, std::span<const double> p) {
  const double k = p[0];
  if (!(y > 0)) return -kInfinity;
  const double log_hazard = k * (std::log(y) - x);
  return p[1] == 1 ? -std::exp(log_hazard) : std::log(k) - std::log(y) + log_hazard - std::exp(log_hazard);
}

Kind weibull_kind() {
  return likelihood_from_log_density("weibull", &Weibull::log_density,
                                     "y is a duration of scale exp(x), or a lower bound of one if censored = 1",
                                     {{"shape", above(0) & finite(), 1.0}, {"censored", one_of({0, 1}), 0.0}}, true)
      .observes("y", above(0) & finite());
}

}  // namespace dma
