// The messages of one scalar factor, computed by the very kernel that runs on plates: what a check, an oracle or a
// curious reader calls to see a number.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/kinds/kind.h"

namespace dma {

// What arrives at a factor, by port in the order of declaration: one message, or one per term of a variadic port. All
// variadic ports of a kind have the same number of terms.
using Arrivals = std::vector<std::vector<Natural>>;

// The messages to port `target`, one per term: those Kind::find_message chooses for `method`. Only the ports that the
// message function reads matter; the arrivals on the target itself give its number of terms. `parameters` holds one
// value per parameter in the order of declaration (one per term for a per-term parameter, laid one after the other), as
// for Kind::function. Nothing: the kernel refused a message because it was not valid (a fault). A method that has no
// message to this port, or a wrong number of arrivals or parameters, is an Error.
std::optional<std::vector<Natural>> evaluate(const Kind& kind, std::string_view method, std::size_t target,
                                             const Arrivals& arrivals, std::span<const double> parameters = {});

}  // namespace dma
