// compile/: the passes that turn a graph into a Plan. May include kinds/ and what lies below it.
//
// Graph + scheduler + registry -> Plan, by a list of passes that hand on a Draft (draft.h):
//   resolve            every factor with its kind, ports, parameters and message functions; all errors of the model
//                      (resolve.h, match_ports.h)
//   fuse               producer-consumer pairs the registry has one kernel for, unless that costs the exact order
//                      (resolve.h)
//   order              the data flow: cycles, levels, chains, which message needs which (flow.h, chains.h)
//   schedule           the scheduler's list of visits, checked (schedule.h, check_schedule.h)
//   lay_out            factors into groups, messages and parameters into arrays (lay_out.h)
//   index_memberships  from the user's factors to groups (lay_out.h)
//   lower              visits into kernel calls and the gathering they need (lower.h, arrivals.h, segments.h). A
//                      kernel may read a message where it stands. If that is overwritten while it is still wanted, the
//                      pass is repeated and copies that message; so it is until none is
//   index_incidence    which slots meet at which element, if an operation asks (lay_out.h)
//   mark_hubs          gathering where very many messages meet (lower.cpp)
//   straighten         chains that were built node by node: neighbours at constant places (lower.h)
//   index_visits       for residual order, who reads what a visit sends (lay_out.h)
//   judge              whether the messages are exact, and whether the graph has a loop (compile.cpp, loops.h)
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/compile/plan.h"
#include "engine/compile/schedule.h"
#include "engine/graph/graph.h"

namespace dma {

class Registry;

struct CompileOptions {
  // The method of every factor that names none; kinds without it use exact messages and, under the default, one that
  // they have.
  std::string method = "dma";
  // The method of all factors of a kind, before `method`.
  std::map<std::string, std::string> kind_methods = {};
  // Replace producer-consumer pairs the registry knows how to fuse (product + sum -> inner_product).
  bool fuse = true;
  // Observed variables to be treated as unknown: to predict them.
  std::vector<VariableId> unobserved = {};
  // Observed variables whose messages are to be computed all the same: what the rest of the graph says of them.
  std::vector<VariableId> predicted = {};
  // Observed variables that join several factors and may have no value in some runs (State::observe_missing): these
  // factors hear of each other then, and a plan of them costs what it would cost if they were unknown.
  std::vector<VariableId> may_be_missing = {};
  // The cavities of shared variables already hold what constant messages say: sweeps read cavities alone. See Learner.
  bool constants_in_cavity = false;
  // The graph is a part of another: variables may be connected to nothing.
  bool is_part = false;
};

Plan compile(const Graph& graph, const Scheduler& scheduler, const Registry& registry,
             const CompileOptions& options = {});

}  // namespace dma
