// A certificate as JSON and as one page of pictures.
#pragma once

#include <string>
#include <vector>

#include "engine/certify/certify.h"
#include "tools/dma/pictures/figure.h"

namespace dma {

// An array with every number of every check; numbers that do not exist are null.
std::string to_json(const std::vector<Certificate>& certificates);

// One row of panels per edge: consistency, marginal error against its bound, and the signal-to-noise sweep if the exact
// message is improper.
plot::Figure picture(const Certificate& certificate);

}  // namespace dma
