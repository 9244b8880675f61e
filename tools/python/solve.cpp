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
  options.compile.method = method, options.compile.kind_methods = kind_methods;
  for (const auto& [variable, value] : values)
    if (has_missing(value))
      options.compile.may_be_missing.push_back(id_of(*kept, py::reinterpret_borrow<py::object>(variable)));
  const TellState tell = [&](State& state) {
    const py::gil_scoped_acquire locked;
    for (const auto& [variable, value] : values)
      observe_values(state, *kept, id_of(*kept, py::reinterpret_borrow<py::object>(variable)),
                     py::reinterpret_borrow<py::object>(value));
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
  py::class_<AnswerHandle>(module, "Answer", "What solve found, by which solver, and why by that one.")
      .def_readonly("report", &AnswerHandle::report)
      .def_readonly("solver", &AnswerHandle::solver)
      .def_readonly("why", &AnswerHandle::why)
      .def_property_readonly("plan", [](const AnswerHandle& a) { return a.state->plan; })
      .def_readonly("state", &AnswerHandle::state)
      .def_property_readonly("evidence",
                             [](const AnswerHandle& a) {
                               const Alone alone(*a.state);
                               return evidence(a.state->plan.plan, a.state->state);
                             })
      .def("__getitem__",
           [](const AnswerHandle& a, const py::object& variable) {
             const Alone alone(*a.state);
             return a.state->state.belief(id_of(a.state->plan, variable));
           })
      .def("__repr__", [](const AnswerHandle& a) { return a.text; });
  module.def("solve", &solve_graph, py::arg("graph"), py::arg("values") = py::dict(), py::arg("by") = "auto",
             py::arg("registry") = py::none(), py::kw_only(), py::arg("kinds") = std::vector<Kind>{},
             py::arg("method") = "dma", py::arg("kind_methods") = std::map<std::string, std::string>{},
             "The beliefs of a graph, given values of what is observed: by the best solver there is, or by that one.");
}

}  // namespace dma::python
