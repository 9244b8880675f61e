// A linear model beside a network that was learned by messages.
#pragma once

#include <vector>

#include "models/table/prediction.h"

namespace dma {

// Gives equally weighted networks their share of the mixture, and the components of the linear model the rest.
void add_rival(std::vector<PredictionComponent> linear, double network_share, std::vector<PredictionComponent>& networks);

}  // namespace dma
