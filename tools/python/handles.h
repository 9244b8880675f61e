// Graphs, plans and states as Python holds them: handles that keep alive what they point to.
#pragma once

#include <memory>
#include <optional>

#include "engine/compile/plan_data.h"
#include "engine/compile/schedule.h"
#include "engine/graph/graph.h"
#include "engine/kinds/registry.h"
#include "engine/run/run.h"
#include "engine/support/text.h"
#include "models/graphs/expressions.h"
#include "models/graphs/model.h"
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
void observe_all(State& state, const Graph& graph, const py::dict& values);

VariableId variable_of(py::handle variable);
// A variable, or an index map of one.
Connection connection_of(py::handle end);
// The destination of a result: none, a new variable by its name, or an existing variable.
Destination result_of(py::handle into);

// A number or an array of them as the value of a parameter.
ParameterValue parameter_of(const std::string& name, py::handle value);
inline ParameterValue numbers_of(py::handle value) { return parameter_of("numbers", value); }

// A function of a graph, as a method of it: what it makes knows its graph. Connections, results and parameters are
// converted by the casters below.
inline VariableHandle handle_of(const std::shared_ptr<Graph>& graph, VariableId id) { return {graph, id}; }
inline FactorHandle handle_of(const std::shared_ptr<Graph>& graph, FactorId id) { return {graph, id}; }
template <class Result, class... Taken>
auto of_graph(Result (*make)(Graph&, Taken...)) {
  return [make](const std::shared_ptr<Graph>& graph, Taken... taken) {
    return handle_of(graph, make(*graph, std::forward<Taken>(taken)...));
  };
}

void bind_operators(Class<VariableHandle>& variable);
void bind_expressions(py::module_& module, Class<Graph, std::shared_ptr<Graph>>& graph);

const Registry& built_in_kinds();
// The one that is given, or the built-in kinds; and more.
const Registry& registry_or_built_in(const py::object& registry);
Registry registry_with(const py::object& registry, const std::vector<Kind>& kinds);

// Drawn by Graphviz; None, so that a notebook shows the text, where that is not installed or the graph is too large.
py::object svg_of(const std::string& dot);

}  // namespace dma::python

namespace pybind11::detail {

template <>
struct type_caster<dma::VariableId> : ReadCaster<dma::VariableId, &dma::python::variable_of> {
  static constexpr auto name = const_name("Variable");
};
template <>
struct type_caster<dma::Destination> : ReadCaster<dma::Destination, &dma::python::result_of> {
  static constexpr auto name = const_name("Union[None, str, Variable]");
};
template <>
struct type_caster<dma::ParameterValue> : ReadCaster<dma::ParameterValue, &dma::python::numbers_of> {
  static constexpr auto name = const_name("npt.ArrayLike");
};
// A Connection is bound as a class of its own: row(), gather() and the others return it.
template <>
struct type_caster<dma::Connection> : type_caster_base<dma::Connection> {
  bool load(handle given, bool) {
    end_.emplace(dma::python::connection_of(given));
    value = &*end_;
    return true;
  }
  static constexpr auto name = const_name("Union[Variable, Connection]");

 private:
  std::optional<dma::Connection> end_;
};

}  // namespace pybind11::detail
