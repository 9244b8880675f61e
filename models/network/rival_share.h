// How much of a mixture a network gets beside its rival, the linear model.
#pragma once

#include <cmath>

namespace dma {

// Nats that the linear model is given: ten to one. Ten rows cannot tell, and then the simpler is the safer.
inline constexpr double kBenefitOfDoubt = 2.3;
inline constexpr double kLeastNetworkShare = 1e-6;  // less is none

// Of a network that is so many nats ahead, the benefit of the doubt taken off: the probability of it against the linear model.
inline double share_of_network(double nats_ahead) {
  const double share = 1 / (1 + std::exp(-nats_ahead));
  if (share < kLeastNetworkShare) return 0;
  return share > 1 - kLeastNetworkShare ? 1 : share;
}

}  // namespace dma
