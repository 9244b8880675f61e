// compile/: the passes that turn a graph into a Plan. May include kinds/ and what lies below it.
//
// Graph + scheduler + registry -> Plan, by passes over a Draft (draft.h):
//   resolve            matches factors with kinds, ports, parameters and message functions; finds all errors of the
//                      model (resolve.h, match_ports.h)
//   fuse               replaces pairs of factors that one kernel computes unless that costs the exact order (resolve.h)
//   order              finds cycles, levels and chains of the data flow, and an exact order (schedule.h, chains.h)
//   schedule           makes and checks the list of visits (schedule.h, check_schedule.h)
//   lay_out            puts factors into groups, messages and parameters into arrays (lay_out.h)
//   index_memberships  maps the user's factors to groups (lay_out.h)
//   lower              turns visits into kernel calls and gathering (lower.h, arrivals.h, segments.h). A kernel may
//                      read a message in place; if it is overwritten before its last use, the pass repeats with a copy
//   index_incidence    maps elements to slots, if an operation needs it (lay_out.h)
//   mark_hubs          marks gathering at elements with very many messages (lower.cpp)
//   straighten         finds chains that were built node by node (lower.h)
//   pair_chains        finds chains that run side by side with the one before (lower.h)
//   index_visits       for residual order, lists the readers of each visit's messages (lay_out.h)
//   judge              decides whether the messages are exact and whether the graph has a loop (compile.cpp, loops.h)
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/compile/schedule.h"
#include "engine/graph/graph.h"

namespace dma {

struct PlanData;  // private: plan_data.h

// A Plan is compiled from a graph, a schedule and a registry: the places of all messages, and the operations of one
// sweep. It is immutable and a shared handle: cheap to copy, and it keeps its contents alive.
class Plan {
 public:
  Plan();  // the plan of an empty graph
  explicit Plan(std::shared_ptr<const PlanData> data) : data_(std::move(data)) {}
  Plan(const Plan&) = default;  // not movable: a handle always has a plan
  Plan& operator=(const Plan&) = default;

  const PlanData& operator*() const { return *data_; }
  const PlanData* operator->() const { return data_.get(); }
  const std::shared_ptr<const PlanData>& data() const { return data_; }  // shared by all handles
  friend bool operator==(const Plan&, const Plan&) = default;            // true for handles from the same compile()

  std::size_t bytes() const;               // size of a State and of the index tables it reads
  std::size_t messages_per_sweep() const;  // number of messages that a sweep computes
  std::string schedule_text() const;       // the schedule in words

 private:
  std::shared_ptr<const PlanData> data_;
};

// Sizes, variables, operations in order.
std::string describe(const Plan& plan);

class Registry;

struct CompileOptions {
  // The method of factors that name none. Kinds without it use exact messages or, under the default, another method.
  std::string method = "dma";
  // The method of all factors of a kind, before `method`.
  std::map<std::string, std::string> kind_methods = {};
  // Fuse pairs of factors for which the registry has one kernel (product + sum -> inner_product).
  bool fuse = true;
  // Observed variables that are treated as unknown, to predict them.
  std::vector<VariableId> unobserved = {};
  // Observed variables whose messages are computed nevertheless: their predictions by the rest of the graph.
  std::vector<VariableId> predicted = {};
  // Observed variables that join several factors and may be missing in some runs (State::observe_missing). They cost as
  // much as unknown ones, because their factors then exchange messages.
  std::vector<VariableId> may_be_missing = {};
  // The cavities of shared variables contain the constant messages, so that sweeps read cavities only. See Learner.
  bool constants_in_cavity = false;
  // The graph is a part of another one: variables may have no factor.
  bool is_part = false;
};

Plan compile(const Graph& graph, const Scheduler& scheduler, const Registry& registry,
             const CompileOptions& options = {});  // the plan of a graph that is solved by this schedule

}  // namespace dma
