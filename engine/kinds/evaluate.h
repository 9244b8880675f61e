// The messages of one scalar factor, computed by the kernel that runs on plates: for checks, oracles and interactive
// use.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/kinds/kind.h"

namespace dma {

// Messages that arrive at a factor, by port in the order of declaration: one message, or one per term of a variadic
// port. All variadic ports of a kind have the same number of terms.
using Arrivals = std::vector<std::vector<Natural>>;

// The messages to port `target`, one per term: those Kind::find_message chooses for `method`. Only the ports that the
// message function reads matter; the arrivals on the target itself give its number of terms. `parameters` holds one
// value per parameter in the order of declaration (one per term for a per-term parameter, one after the other), as for
// Kind::function. Returns nothing if the kernel refused a message as invalid (a fault). A method without a message to
// this port, or a wrong number of arrivals or parameters, is an Error.
std::optional<std::vector<Natural>> evaluate(const Kind& kind, std::string_view method, std::size_t target,
                                             const Arrivals& arrivals, std::span<const double> parameters = {});

}  // namespace dma
