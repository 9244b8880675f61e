// The part a single factor has in the evidence.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "engine/kinds/evaluate.h"
#include "engine/messages/family.h"

namespace dma {

// Port by port and term by term, the place where what arrives counts as 1; NaN: it counts as a normalised density.
using Centres = std::vector<std::vector<double>>;

// log of the integral of a factor times what arrives, all taken as normalised densities (uniform ones that have no
// integral as the constant 1); a known value arrives as a point mass. `families` are those of the variables, port by
// port. An Error says why there is no such number, and what to do.
//
// A message of next to no precision that only pulls, such as that of a likelihood far on its wrong side, is a density
// of a mean at 1e30. Taken as 1 at `centres`, it gives no large number to the integral that others must cancel;
// `largest` is raised to those that remain.
double log_mass(const Kind& kind, std::string_view method, const Arrivals& arrivals, std::span<const double> parameters,
                const std::vector<Family>& families, const Centres& centres = {}, double* largest = nullptr);

// The same of a factor with variational messages: replaced by the product of those that leave it, times the constant
// that gives it the expectation of log f under the beliefs q, it has
//
//   E_q[log f] - sum over its variables KL(q || what arrives),
//
// and the sum of all parts is a lower bound where all other factors are exact and free of loops.
double log_variational_mass(const Kind& kind, const Arrivals& beliefs, const Arrivals& arrivals,
                            std::span<const double> parameters, const std::vector<Family>& families,
                            const Centres& centres = {}, double* largest = nullptr);

// What was observed, from the point mass that is kept of it.
std::vector<double> observed_value(const Family& family, Components point);

// A(message), 0 for one that is uniform and has no integral. NaN: it is neither.
double log_normaliser_or_flat(const Family& family, Components message);

}  // namespace dma
