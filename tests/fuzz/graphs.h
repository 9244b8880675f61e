// Shared code of targets that make graphs.
#pragma once

#include <optional>

#include "engine/compile/compile.h"
#include "engine/kinds/registry.h"
#include "engine/run/run.h"

namespace dma::fuzz {

const Registry& registry();

// Checks that every belief is finite, and that a converged run reports its last change.
void check_beliefs(const Graph& graph, const State& state, const Report& report);

// The log evidence if it is reported as exact; it is then a number or -inf.
std::optional<double> exact_evidence(const Plan& plan, const State& state, const Graph& graph);

}  // namespace dma::fuzz
