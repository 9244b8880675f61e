// Tilted moments of a factor of several variables (tilted.h): the message to the first of them,
//
//   M, V of t_1 under phi(t_1) ... phi(t_k) f(t_1, ..., t_k),      k = 2 or 3.
//
// A t_j along which log f is a parabola (Gaussian noise) is integrated out in closed form. What is left, if not one
// variable, is added up on a lattice around the mode, or two, in coordinates in which the density is N(0, I) to the
// second order. Where every second point of it says something else (f is cut off, or has tails that are too long), one
// integral is done inside the other: as robust as one variable is, at a hundred times the cost of each.
#pragma once

#include "factors/authoring/tilted.h"

namespace dma {

// hints[i]: where else f may have a peak, along t_i.
Tilted tilt_first(const LogFactorOfSeveral& log_f, std::size_t count, const std::span<const double>* hints);

}  // namespace dma
