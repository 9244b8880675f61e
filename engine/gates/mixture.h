// Beliefs of mixtures, such as those of the cases of gates.
#pragma once

#include <span>

#include "engine/messages/family.h"

namespace dma {

constexpr double kMostCases = 1024;  // of the discrete variables that choose factors

// Writes the message of a mixture of messages with these weights, all above 0: exact for discrete families, of the same
// mean and variance for others, uniform if one is. False if the family has no message with given moments.
bool mix(const Family& family, std::span<const double> weights, std::span<const Components> parts, Natural* out);

}  // namespace dma
