// Tilted moments of a factor of several variables (tilted.h): the message to the first of them,
//
//   M, V of t_1 under phi(t_1) ... phi(t_k) f(t_1, ..., t_k),      k = 2 or 3.
//
// A t_j along which log f is a parabola (Gaussian noise) is integrated out in closed form. If more than one variable
// remains, the integral is a sum over a lattice around one or two modes, in coordinates in which the density is N(0, I)
// to second order. If the sum over every second point disagrees (f is cut off, or has long tails), nested integrals are
// used: as robust as the one-variable case, at a hundred times the cost per variable.
#pragma once

#include "factors/authoring/tilted.h"

namespace dma {

// hints[i]: other places along t_i where f may have a peak.
Tilted tilt_first(const LogFactorOfSeveral& log_f, std::size_t count, const std::span<const double>* hints);

}  // namespace dma
