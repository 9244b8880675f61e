// solve: chooses how a graph is solved, and holds what was found.
#include "models/graphs/solve.h"

#include <pybind11/stl.h>

#include <map>

#include "tools/python/handles.h"

namespace dma::python {

namespace {

struct AnswerHandle {
  std::shared_ptr<StateHandle> state;
  Report report;
  std::string solver, why, text;
};

bool has_missing(const py::handle& values) {
  if (values.is_none() || py::hasattr(values, "mask")) return true;
  if (!py::isinstance<py::list>(values) && !py::isinstance<py::tuple>(values)) return false;
  for (const py::handle value : values)
    if (value.is_none()) return true;
  return false;
}

AnswerHandle solve_graph(const Graph& graph, const py::dict& values, const py::object& by, const py::object& registry,
                         const std::vector<Kind>& kinds, const std::string& method,
                         const std::map<std::string, std::string>& kind_methods) {
  const auto kept = std::make_shared<const Graph>(graph);  // nobody adds to it while the lock is released
  const Registry known = registry_with(registry, kinds);
  SolveOptions options{.registry = &known};
  options.compile.method = method;
  options.compile.kind_methods = kind_methods;
  for (const auto& [variable, value] : values)
    if (has_missing(value))
      options.compile.may_be_missing.push_back(id_of(*kept, py::reinterpret_borrow<py::object>(variable)));
  const TellState tell = [&](State& state) {
    const py::gil_scoped_acquire locked;
    observe_all(state, *kept, values);
  };
  const bool is_auto = py::isinstance<py::str>(by) && by.cast<std::string>() == "auto";
  const std::optional<Solve> way = is_auto ? std::nullopt : std::optional(way_of(by));
  Answer answer = [&] {
    const py::gil_scoped_release unlocked;
    return with_advice(*kept, known,
                       [&] { return way ? solve_told(*kept, tell, *way, options) : solve_told(*kept, tell, options); });
  }();
  const std::string text = answer.text();
  return {std::make_shared<StateHandle>(PlanHandle{answer.plan, kept}, std::move(answer.state)),
          std::move(answer.report), std::move(answer.solver), std::move(answer.why), text};
}

}  // namespace

void bind_solve(py::module_& module) {
  Class<AnswerHandle>(module, "Answer", "What solve found, by which solver, and why by that one.")
      .get("report", "", &AnswerHandle::report)
      .get("solver", "", &AnswerHandle::solver)
      .get("why", "", &AnswerHandle::why)
      .get("plan", "", [](const AnswerHandle& a) { return a.state->plan; })
      .get("state", "", &AnswerHandle::state)
      .get("evidence", "",
           [](const AnswerHandle& a) {
             const Alone alone(*a.state);
             return evidence(a.state->plan.plan, a.state->state);
           })
      .def("__getitem__(variable)", "",
           [](const AnswerHandle& a, const py::object& variable) {
             const Alone alone(*a.state);
             return a.state->state.belief(id_of(a.state->plan, variable));
           })
      .def("__repr__()", "", [](const AnswerHandle& a) { return a.text; });
  def(module, "solve(graph, values={}, by='auto', registry=None, *, kinds=[], method='dma', kind_methods={})",
      "The beliefs of a graph, given values of what is observed: by the best solver there is, or by that one.",
      &solve_graph);
}

}  // namespace dma::python
