// Part of resolve: the connections of a factor matched with the ports of its kind, and the plate they make.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/compile/resolve.h"
#include "engine/graph/plate.h"

namespace dma {

using Ends = ShortList<const Connection*>;
using PortEnds = std::vector<Ends>;  // the connections of each port

// Which connections go to which port: named ones by name, the others in order; a variadic port takes the surplus.
// `assigned` is overwritten: one list serves all factors.
void assign_ports(const Graph::Factor& factor, const Kind& kind, PortEnds& assigned);

// Each variable must be of the family its port asks for; where ports ask for none, all must be of one.
void check_families(const std::vector<Resolved::Variable>& variables, const Graph::Factor& factor, const Kind& kind,
                    const PortEnds& ports);

// The number of slots: what the ends of ports that are not variadic agree on (plate.h).
std::uint32_t plate_size(const std::vector<Resolved::Variable>& variables, const Graph::Factor& factor,
                         const Kind& kind, const PortEnds& ports);

// The variables of a graph, their elements side by side: the first step of resolve().
Resolved resolve_variables(const Graph& graph, const Registry& registry);

// The terms of one slot that a connection brings to a variadic port, each of as many components as its family has.
std::uint32_t terms_of(const std::vector<Resolved::Variable>& variables, const Graph::Factor& factor,
                       const Connection& c, std::uint32_t slots);

// The components of the variables of one slot, port by port.
PortComponents components_of_ends(const std::vector<Resolved::Variable>& variables, const Graph::Factor& factor,
                                  const Kind& kind, std::uint32_t slots, const PortEnds& ports);

// Sets the elements, terms and variables of a port.
void connect(const std::vector<Resolved::Variable>& variables, const Graph::Factor& factor, const PortSpec& spec,
             const Ends& ends, std::uint32_t slots, Resolved::Port& port);

// Ports that the kind wants to have equally many terms must have them.
void check_terms(const Graph::Factor& factor, const Kind& kind, const Resolved::Factor& resolved);

// A slot that meets an unknown element twice would take it for two independent ones.
void check_repetitions(const std::vector<Resolved::Variable>& variables, const Graph::Factor& factor,
                       const Resolved::Factor& resolved);

// Messages that hold where a port is observed (Kind::only_if_observed): throws an Error that names other methods where
// a variable on such a port is neither observed nor unknown to all others, so that something arrives there.
void refuse_if_informed(const Resolved& graph);

}  // namespace dma
