// The part a single factor has in the evidence.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "engine/kinds/evaluate.h"
#include "engine/messages/family.h"

namespace dma {

// log of the integral of a factor times what arrives, all taken as normalised densities (uniform ones that have no
// integral as the constant 1); a known value arrives as a point mass. `families` are those of the variables, port by port.
// An Error says why there is no such number, and what to do.
double log_mass(const Kind& kind, std::string_view method, const Arrivals& arrivals, std::span<const double> parameters,
                const std::vector<Family>& families);

// A(message), 0 for one that is uniform and has no integral. NaN: it is neither.
double log_normaliser_or_flat(const Family& family, Lanes message);

}  // namespace dma
