// What the targets that make graphs share.
#pragma once

#include <optional>

#include "engine/compile/compile.h"
#include "engine/run/run.h"

namespace dma::fuzz {

const Registry& registry();

// Every belief is made of numbers, and a run that has settled knows by how much it last changed.
void check_beliefs(const Graph& graph, const State& state, const Report& report);

// The log evidence if it is called exact; it is then a number, or -inf.
std::optional<double> exact_evidence(const Plan& plan, const State& state, const Graph& graph);

}  // namespace dma::fuzz
