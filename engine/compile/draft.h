// The object that the passes of compile work on: the resolved and fused graph, and the plan so far. The graph is the
// larger part; a run needs the plan only.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "engine/compile/compile.h"
#include "engine/compile/plan_data.h"
#include "engine/compile/resolve.h"
#include "engine/compile/schedule.h"

namespace dma {

struct Draft {
  // The place of a factor of the graph in the plan.
  struct Place {
    std::uint32_t group = kNowhere;
    std::uint32_t first_slot = 0;
  };

  explicit Draft(Resolved resolved) : graph(std::move(resolved)), flow(graph) {}
  Draft(const Draft&) = delete;  // the flow points to the graph
  Draft& operator=(const Draft&) = delete;

  const Resolved graph;
  const Flow flow;
  std::vector<Place> places = {};  // by factor, once they are laid out
  PlanData plan = {};

  const Group& group_of(const Visit& visit) const { return plan.groups[places[visit.factor].group]; }
};

}  // namespace dma
