// Graphs, plans and states as Python holds them: handles that keep alive what they point to.
#pragma once

#include <atomic>
#include <memory>

#include "engine/graph/graph.h"
#include "engine/kinds/registry.h"
#include "engine/run/state.h"
#include "models/graphs/expressions.h"
#include "tools/python/bindings.h"

namespace dma::python {

struct VariableHandle {
  std::shared_ptr<Graph> graph;
  VariableId id;
};
struct FactorHandle {
  std::shared_ptr<Graph> graph;
  FactorId id;
};

// With the graph as it was when it was compiled: somebody may go on building, or drop it.
struct PlanHandle {
  Plan plan;
  std::shared_ptr<const Graph> graph;
};

// One thread at a time: run() works without the interpreter's lock, and a second thread that comes in meanwhile is
// refused rather than let into a race.
struct StateHandle {
  StateHandle(PlanHandle its_plan, State its_state) : plan(std::move(its_plan)), state(std::move(its_state)) {}
  PlanHandle plan;
  State state;
  std::atomic<bool> is_busy = false;
};
class Alone {
 public:
  explicit Alone(StateHandle& handle);  // an Error if another thread is at work with it
  ~Alone() { handle_.is_busy = false; }
  Alone(const Alone&) = delete;
  Alone& operator=(const Alone&) = delete;

 private:
  StateHandle& handle_;
};

// A variable, or its name; a factor likewise.
VariableId id_of(const PlanHandle& plan, const py::object& variable);
FactorId factor_of(const PlanHandle& plan, const py::object& factor);

// A variable, or an index map of one.
Connection connection_of(py::handle end);
// Where a result goes: None, the name of a new variable, or one that is there.
Destination result_of(const py::object& into);

// A number or an array of them as the value of a parameter.
ParameterValue parameter_of(const std::string& name, py::handle value);

void bind_expressions(py::class_<Graph, std::shared_ptr<Graph>>& graph);

const Registry& built_in_kinds();
// The one that is given, or the built-in kinds.
const Registry& registry_or_built_in(const py::object& registry);

// Drawn by Graphviz; None where that is not installed.
py::object svg_of(const std::string& dot);

}  // namespace dma::python
