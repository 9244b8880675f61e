// compile/: the passes that turn a graph into a Plan. May include kinds/ and what lies below it.
//
// Graph + scheduler + registry -> Plan, by a list of passes:
//   resolve     every factor with its kind, ports, parameters and message functions; all errors of the model
//   (resolve.h) fuse        producer-consumer pairs the registry has one kernel for (resolve.h) order       the data
//   flow, cycles, levels, dependencies of messages (flow.h) schedule    the scheduler's list of visits (schedule.h) lay
//   out     factors into groups, messages and parameters into arrays (lay_out.h) lower       visits into kernel calls
//   and the gathering they need (lower.h)
#pragma once

#include "engine/compile/plan.h"

namespace dma {

Plan compile(const Graph& graph, const Scheduler& scheduler, const Registry& registry,
             const CompileOptions& options = {});

}  // namespace dma
