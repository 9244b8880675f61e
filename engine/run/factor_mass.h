// The part a single factor has in the evidence.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "engine/kinds/evaluate.h"
#include "engine/messages/family.h"

namespace dma {

// log of the integral of a factor times what arrives, all taken as normalised densities (uniform ones that have no
// integral as the constant 1); a known value arrives as a point mass. `families` are those of the variables, port by
// port. An Error says why there is no such number, and what to do.
double log_mass(const Kind& kind, std::string_view method, const Arrivals& arrivals, std::span<const double> parameters,
                const std::vector<Family>& families);

// The same of a factor with variational messages: replaced by the product of those that leave it, times the constant
// that gives it the expectation of log f under the beliefs q, it has
//
//   E_q[log f] - sum over its variables KL(q || what arrives),
//
// and the sum of all parts is a lower bound where all other factors are exact and free of loops.
double log_variational_mass(const Kind& kind, const Arrivals& beliefs, const Arrivals& arrivals,
                            std::span<const double> parameters, const std::vector<Family>& families);

// What was observed, from the point mass that is kept of it.
std::vector<double> observed_value(const Family& family, Components point);

// A(message), 0 for one that is uniform and has no integral. NaN: it is neither.
double log_normaliser_or_flat(const Family& family, Components message);
// The same of what arrives at a factor, which may widen: the factor's part has the same constant.
double log_normaliser_of_arrival(const Family& family, Components message);

}  // namespace dma
