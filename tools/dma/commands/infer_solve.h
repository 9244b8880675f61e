// How `dma infer` solves a graph from a file.
#pragma once

#include <string>

#include "engine/compile/compile.h"
#include "engine/exact/exact.h"
#include "engine/joint/joint.h"
#include "engine/run/run.h"
#include "models/graphs/graph_file.h"

namespace dma {

struct Solved {
  Plan plan;
  State state;
  Report report;
  std::string why_not_exact = {};  // of a discrete graph that is swept because its cliques are too wide
};

// How a graph may be solved that is not swept.
struct WholeSolvers {
  Joint gaussian;
  Exact discrete;
};

Solved solve(const GraphFile& file, Plan plan);
// By the name of a schedule or solver; "auto", or none: the best there is.
Solved solve_as_asked(const GraphFile& file, const std::string& schedule, const WholeSolvers& whole,
                      const Registry& registry, const CompileOptions& options);

}  // namespace dma
