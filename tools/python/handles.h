// Graphs, plans and states as Python holds them: handles that keep alive what they point to.
#pragma once

#include <atomic>
#include <memory>

#include "engine/compile/plan_data.h"
#include "engine/compile/schedule.h"
#include "engine/graph/graph.h"
#include "engine/kinds/registry.h"
#include "engine/run/state.h"
#include "engine/support/error.h"
#include "models/graphs/expressions.h"
#include "models/graphs/solve.h"
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
struct Guarded {
  explicit Guarded(const char* its_kind) : kind(its_kind) {}
  const char* kind;  // "state"
  std::atomic<bool> is_busy = false;
};
class Alone {
 public:
  explicit Alone(Guarded& handle);  // an Error if another thread is at work with it
  ~Alone() { handle_.is_busy = false; }
  Alone(const Alone&) = delete;
  Alone& operator=(const Alone&) = delete;

 private:
  Guarded& handle_;
};
// A function of a handle and of what else it takes, which works with it alone.
template <class Result, class Handle, class... Others>
auto when_alone(Result (*work)(Handle&, Others...)) {
  return [work](Handle& handle, Others... others) -> Result {
    const Alone alone(handle);
    return work(handle, std::forward<Others>(others)...);
  };
}
struct StateHandle : Guarded {
  StateHandle(PlanHandle its_plan, State its_state)
      : Guarded("state"), plan(std::move(its_plan)), state(std::move(its_state)) {}
  PlanHandle plan;
  State state;
};

// Work with a graph, whose errors say how Python gives a kind that is unknown or a method that one lacks.
std::string advised(std::string error, const Graph& graph, const Registry& known);
template <class Work>
auto with_advice(const Graph& graph, const Registry& known, const Work& work) {
  try {
    return work();
  } catch (const Contradiction&) {
    throw;
  } catch (const Error& error) {
    throw Error(advised(error.what(), graph, known));
  }
}

// A variable, or its name; a factor likewise.
VariableId id_of(const Graph& graph, const py::object& variable);
inline VariableId id_of(const PlanHandle& plan, const py::object& variable) { return id_of(*plan.graph, variable); }
std::vector<VariableId> ids_of(const Graph& graph, const std::vector<py::object>& variables);
FactorId factor_of(const PlanHandle& plan, const py::object& factor);

// A schedule, joint(), exact(), tree_reweighted(), or the name of one with its usual settings.
Solve way_of(const py::object& schedule);
// A schedule of sweeps, or the name of one with its usual settings.
Scheduler sweeps_of(const py::object& schedule);

// Values of a variable: None, or None or masked where one is missing; a category by its name.
void observe_values(State& state, const Graph& graph, VariableId variable, const py::object& values);

// A variable, or an index map of one.
Connection connection_of(py::handle end);
// Where a result goes: None, the name of a new variable, or one that is there.
Destination result_of(const py::object& into);

// A number or an array of them as the value of a parameter.
ParameterValue parameter_of(const std::string& name, py::handle value);

void bind_operators(py::class_<VariableHandle>& variable);
void bind_expressions(py::module_& module, py::class_<Graph, std::shared_ptr<Graph>>& graph);

const Registry& built_in_kinds();
// The one that is given, or the built-in kinds; and more.
const Registry& registry_or_built_in(const py::object& registry);
Registry registry_with(const py::object& registry, const std::vector<Kind>& kinds);

// Drawn by Graphviz; None, so that a notebook shows the text, where that is not installed or the graph is too large.
py::object svg_of(const std::string& dot);

}  // namespace dma::python
