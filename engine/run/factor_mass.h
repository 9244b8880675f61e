// The contribution of a single factor to the evidence.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "engine/kinds/evaluate.h"
#include "engine/messages/family.h"

namespace dma {

// Port by port and term by term, the place at which an arriving message is scaled to 1; NaN: it is a normalised
// density.
using Centres = std::vector<std::vector<double>>;

// log of the integral of a factor times its arriving messages, all as normalised densities (uniform ones without an
// integral as the constant 1); a known value arrives as a point mass. `families` are those of the variables, port by
// port. An Error says why the number does not exist, and how to repair it.
//
// A message of very small precision that only pulls, such as that of a likelihood far on its wrong side, is a density
// with mean 1e30. Scaled to 1 at `centres`, it gives the integral no large number that other terms must cancel;
// `largest` is raised to the largest number that remains.
double log_mass(const Kind& kind, std::string_view method, const Arrivals& arrivals, std::span<const double> parameters,
                const std::vector<Family>& families, const Centres& centres = {}, double* largest = nullptr);

// The same for a factor with variational messages. The factor is replaced by the product of its outgoing messages,
// times the constant that preserves the expectation of log f under the beliefs q. Its part is
//
//  E_q[log f] - sum over its variables KL(q || arriving message),
//
// and the sum of all parts is a lower bound if all other factors are exact and free of loops.
double log_variational_mass(const Kind& kind, const Arrivals& beliefs, const Arrivals& arrivals,
                            std::span<const double> parameters, const std::vector<Family>& families,
                            const Centres& centres = {}, double* largest = nullptr);

// The observed value, from the point mass that represents it.
std::vector<double> observed_value(const Family& family, Components point);

// A(message); 0 for a uniform message without an integral. NaN: neither.
double log_normaliser_or_flat(const Family& family, Components message);

}  // namespace dma
