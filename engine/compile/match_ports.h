// Part of resolve: matches the connections of a factor with the ports of its kind, and finds the size of its plate.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/compile/resolve.h"
#include "engine/graph/plate.h"

namespace dma {

using Ends = ShortList<const Connection*>;
using PortEnds = std::vector<Ends>;  // the connections of each port

// Assigns connections to ports: named ones by name, the others in order; a variadic port takes the surplus. Overwrites
// `assigned`, which serves all factors.
void assign_ports(const Graph::Factor& factor, const Kind& kind, PortEnds& assigned);

// Each variable must be of its port's family; the variables of ports without one must all be of the same family.
void check_families(const std::vector<Resolved::Variable>& variables, const Graph::Factor& factor, const Kind& kind,
                    const PortEnds& ports);

// The number of slots, on which the ends of ports that are not variadic agree (plate.h).
std::uint32_t plate_size(const std::vector<Resolved::Variable>& variables, const Graph::Factor& factor,
                         const Kind& kind, const PortEnds& ports);

// The variables of a graph, their elements side by side: the first step of resolve().
Resolved resolve_variables(const Graph& graph, const Registry& registry);

// The number of terms per slot that a connection adds to a variadic port.
std::uint32_t terms_of(const std::vector<Resolved::Variable>& variables, const Graph::Factor& factor,
                       const Connection& c, std::uint32_t slots);

// The components of the variables of one slot, port by port.
PortComponents components_of_ends(const std::vector<Resolved::Variable>& variables, const Graph::Factor& factor,
                                  const Kind& kind, std::uint32_t slots, const PortEnds& ports);

// Sets the elements, terms and variables of a port.
void connect(const std::vector<Resolved::Variable>& variables, const Graph::Factor& factor, const PortSpec& spec,
             const Ends& ends, std::uint32_t slots, Resolved::Port& port);

// Checks that ports declared by Kind::same_terms() have equally many terms.
void check_terms(const Graph::Factor& factor, const Kind& kind, const Resolved::Factor& resolved);

// Refuses slots that meet an unknown element twice: they would take it for two independent ones.
void check_repetitions(const std::vector<Resolved::Variable>& variables, const Graph::Factor& factor,
                       const Resolved::Factor& resolved);

// Refuses messages restricted by Kind::only_if_observed() if a variable on that port is not observed and other factors
// inform it; the Error names other methods.
void refuse_if_informed(const Resolved& graph);

}  // namespace dma
