// compile, State, run, and what is read afterwards: beliefs, reports, evidence, the joint posterior.
#include "engine/run/run.h"

#include <fmt/format.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <variant>

#include "engine/compile/compile.h"
#include "engine/compile/plan_data.h"
#include "engine/exact/exact.h"
#include "engine/gates/gates.h"
#include "engine/inspect/dot.h"
#include "engine/joint/joint.h"
#include "engine/support/error.h"
#include "models/graphs/solve.h"
#include "tools/python/handles.h"

namespace dma::python {

Alone::Alone(Guarded& handle) : handle_(handle) {
  if (handle.is_busy.exchange(true))
    fail("another thread is at work with this {0}; give each thread a {0} of its own", handle.kind);
}

namespace {

using SharedState = std::shared_ptr<StateHandle>;

PlanHandle compile_graph(const Graph& graph, const py::object& schedule, const py::object& registry,
                         const std::vector<Kind>& kinds, const std::string& method,
                         const std::map<std::string, std::string>& kind_methods, bool fuse,
                         const std::vector<py::object>& unobserved, const std::vector<py::object>& predicted,
                         const std::vector<py::object>& may_be_missing) {
  const auto kept = std::make_shared<const Graph>(graph);  // nobody adds to it while the lock is released
  const Solve rule = way_of(schedule);
  const Registry known = registry_with(registry, kinds);
  const CompileOptions options{.method = method,
                               .kind_methods = kind_methods,
                               .fuse = fuse,
                               .unobserved = ids_of(graph, unobserved),
                               .predicted = ids_of(graph, predicted),
                               .may_be_missing = ids_of(graph, may_be_missing)};
  const py::gil_scoped_release unlocked;
  const auto compiled = [&](const auto& one) { return compile_with_gates(*kept, one, known, options); };
  return {with_advice(*kept, known, [&] { return std::visit(compiled, rule); }), kept};
}

}  // namespace

void observe_values(State& state, const Graph& graph, VariableId variable, const py::object& values) {
  if (values.is_none()) return state.observe(variable, std::nullopt);
  if (py::isinstance<py::str>(values) && !graph.categories(variable).empty())
    return state.observe(variable, graph.category(variable, values.cast<std::string>()));
  // Where an element is None, or masked, it is missing; a NaN is a mistake.
  const auto refuse = [&] {
    fail("observe: {} is given; a number, an array of numbers, or None for what is missing is expected", shown(values));
  };
  const bool is_masked = py::hasattr(values, "mask") && py::hasattr(values, "filled");
  bool has_none = false;
  if (py::isinstance<py::list>(values) || py::isinstance<py::tuple>(values))
    for (const py::handle value : values) has_none |= value.is_none();
  if (has_none) {
    std::vector<std::optional<double>> known;
    try {
      known = values.cast<std::vector<std::optional<double>>>();
    } catch (const py::cast_error&) {
      refuse();
    }
    return state.observe(variable, std::span<const std::optional<double>>(known));
  }
  const Array numbers = numbers_in(is_masked ? values.attr("filled")(0.0) : values);
  if (!numbers) refuse();
  if (!is_masked) return state.observe(variable, span_of(numbers));
  const py::array_t<bool, py::array::c_style | py::array::forcecast> mask =
      py::module_::import("numpy.ma").attr("getmaskarray")(values);
  std::vector<std::optional<double>> known;
  for (py::ssize_t i = 0; i < numbers.size(); ++i)
    known.push_back(mask.data()[i] ? std::nullopt : std::optional(numbers.data()[i]));
  state.observe(variable, std::span<const std::optional<double>>(known));
}

namespace {

// Asked between sweeps whether to go on: by Ctrl-C and by whoever called. What Python raises is kept until the run has
// ended; its messages stay, and a warm run goes on. Without a listener the interpreter's lock is taken a few times a
// second only: with many threads it may take a while to get.
class Watch {
 public:
  explicit Watch(py::object callback) : callback_(std::move(callback)), is_heard_(!callback_.is_none()) {}

  bool operator()(const Report& report) {
    constexpr std::chrono::milliseconds kPause{50};
    const auto now = std::chrono::steady_clock::now();
    if (!is_heard_ && now < next_) return true;
    next_ = now + kPause;
    const py::gil_scoped_acquire locked;
    try {
      throw_pending_signal();
      return !is_heard_ || !callback_(report).is(py::bool_(false));
    } catch (py::error_already_set& error) {
      error_ = std::make_unique<py::error_already_set>(std::move(error));
      return false;
    }
  }
  void rethrow() const {
    if (error_) throw py::error_already_set(*error_);
  }

 private:
  py::object callback_;
  bool is_heard_;
  std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now();
  std::unique_ptr<py::error_already_set> error_;
};

Report run_state(const PlanHandle& plan, StateHandle& s, bool warm, bool diagnose, py::object callback,
                 std::optional<double> seconds) {
  const Alone alone(s);
  Watch watch(std::move(callback));
  RunOptions options{.warm = warm, .diagnose = diagnose, .callback = std::ref(watch)};
  if (seconds) {
    constexpr double kLongest = 1e9;
    if (!(*seconds >= 0 && *seconds <= kLongest)) fail("seconds: {} is given; 0 to {} is expected", *seconds, kLongest);
    options.time = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(*seconds));
  }
  Report report = without_lock([&] { return run(plan.plan, s.state, options); });
  watch.rethrow();
  return report;
}

void bind_plan(py::module_& module) {
  py::class_<PlanHandle>(module, "Plan", "What compile makes of a graph: immutable, shared by any number of states.")
      .def_property_readonly("messages_per_sweep", [](const PlanHandle& p) { return p.plan.messages_per_sweep(); })
      .def_property_readonly("bytes", [](const PlanHandle& p) { return p.plan.bytes(); })
      .def(
          "describe", [](const PlanHandle& p) { return describe(p.plan); }, "The operations of the plan, one per line.")
      .def(
          "dot", [](const PlanHandle& p) { return to_dot(*p.graph, *p.plan->registry); }, "As text for Graphviz.")
      .def("_repr_svg_", [](const PlanHandle& p) { return svg_of(to_dot(*p.graph, *p.plan->registry)); })
      .def("__repr__", [](const PlanHandle& p) {
        return fmt::format("<dma.Plan: {} variables, {} messages a sweep>", p.plan->variables.size(),
                           p.plan.messages_per_sweep());
      });
  module.def("compile", &compile_graph, py::arg("graph"), py::arg("schedule") = "forward_backward",
             py::arg("registry") = py::none(), py::kw_only(), py::arg("kinds") = std::vector<Kind>{},
             py::arg("method") = "dma", py::arg("kind_methods") = std::map<std::string, std::string>{},
             py::arg("fuse") = true, py::arg("unobserved") = std::vector<py::object>{},
             py::arg("predicted") = std::vector<py::object>{}, py::arg("may_be_missing") = std::vector<py::object>{},
             "A plan of a graph: how it is solved, by a schedule, joint() or exact(), or the name of one.");
}

// The picture, where Graphviz is installed, and the beliefs as a table.
py::object page_of_state(StateHandle& s) {
  constexpr std::size_t kMostRows = 40;
  const Alone alone(s);
  py::list rows;
  for (std::uint32_t v = 0; v < s.plan.graph->variables().size(); ++v) {
    if (s.plan.plan->variables[v].eliminated) continue;
    const std::string& name = s.plan.graph->variables()[v].name;
    const Belief belief = s.state.belief(VariableId{v, s.plan.graph->mark()});
    for (std::size_t i = 0; i < belief.size() && rows.size() < kMostRows; ++i)
      rows.append(py::make_tuple(belief.size() == 1 ? name : fmt::format("{}[{}]", name, i),
                                 belief.family()->text(belief.message(i))));
  }
  const py::module_ pictures = py::module_::import("dma.pictures");
  const py::object drawn = svg_of(to_dot(*s.plan.graph, *s.plan.plan->registry, s.state));
  return pictures.attr("with_table")(drawn, pictures.attr("table")(py::make_tuple("variable", "belief"), rows));
}

void bind_state(py::module_& module) {
  py::class_<StateHandle, SharedState>(module, "State", "Every number that changes while a plan runs.")
      .def(py::init([](const PlanHandle& plan) { return std::make_shared<StateHandle>(plan, State(plan.plan)); }),
           py::arg("plan"))
      .def("observe", when_alone(+[](StateHandle& s, const py::object& variable, const py::object& values) {
             observe_values(s.state, *s.plan.graph, id_of(s.plan, variable), values);
           }),
           py::arg("variable"), py::arg("values"), "None is missing; a category may be given by its name.")
      .def("freeze",
           when_alone(+[](StateHandle& s, const py::object& variable) { s.state.freeze(id_of(s.plan, variable)); }),
           py::arg("variable"), "Messages to it stay as they are, whatever the others hear.")
      .def("thaw",
           when_alone(+[](StateHandle& s, const py::object& variable) { s.state.thaw(id_of(s.plan, variable)); }),
           py::arg("variable"), "Lets a frozen variable learn again.")
      .def("is_frozen", when_alone(+[](StateHandle& s, const py::object& variable) {
             return s.state.is_frozen(id_of(s.plan, variable));
           }),
           py::arg("variable"), "Whether the variable is frozen.")
      .def("set_parameter",
           when_alone(+[](StateHandle& s, const py::object& factor, const std::string& name, const py::object& values) {
             const ParameterValue value = parameter_of(name, values);
             s.state.set_parameter(factor_of(s.plan, factor), name,
                                   std::span(value.numbers.begin(), value.numbers.size()));
           }),
           py::arg("factor"), py::arg("parameter"), py::arg("values"), "Other numbers for a factor, in this state.")
      .def("set_table",
           when_alone(+[](StateHandle& s, const py::object& factor, const std::string& port,
                          const std::vector<std::uint32_t>& elements) {
             s.state.set_table(factor_of(s.plan, factor), port, std::span<const std::uint32_t>(elements));
           }),
           py::arg("factor"), py::arg("port"), py::arg("elements"), "The elements that given(...) left open.")
      .def("belief", when_alone(+[](StateHandle& s, const py::object& variable) {
             return std::make_shared<Belief>(s.state.belief(id_of(s.plan, variable)));
           }),
           py::arg("variable"), "What is known of a variable.")
      .def("beliefs", when_alone(+[](StateHandle& s) {
             py::dict all;
             for (std::uint32_t v = 0; v < s.plan.graph->variables().size(); ++v)
               if (!s.plan.plan->variables[v].eliminated)
                 all[py::str(s.plan.graph->variables()[v].name)] =
                     std::make_shared<Belief>(s.state.belief(VariableId{v, s.plan.graph->mark()}));
             return all;
           }),
           "Beliefs of all variables by name.")
      .def("messages", when_alone(+[](StateHandle& s, const py::object& factor, const std::string& port) {
             std::vector<double> moments;
             for (const Gaussian& message : s.state.messages(factor_of(s.plan, factor), port))
               moments.insert(moments.end(), {message.mean(), message.variance()});
             const auto rows = static_cast<py::ssize_t>(moments.size() / 2);
             return as_array(std::move(moments), {rows, 2});
           }),
           py::arg("factor"), py::arg("port"), "Mean and variance of the messages to a port, slot by slot.")
      .def("reset", when_alone(+[](StateHandle& s) { s.state.reset(); }), "Forgets all messages, but no values.")
      .def("copy", when_alone(+[](StateHandle& s) { return std::make_shared<StateHandle>(s.plan, s.state.copy()); }),
           "An independent copy.")
      .def_property_readonly("plan", [](const StateHandle& s) { return s.plan; })
      .def("__copy__",
           when_alone(+[](StateHandle& s) { return std::make_shared<StateHandle>(s.plan, s.state.copy()); }))
      .def("__repr__",
           [](const StateHandle& s) {
             return fmt::format("<dma.State of {} variables>", s.plan.plan->variables.size());
           })
      .def("dot", when_alone(+[](StateHandle& s) { return to_dot(*s.plan.graph, *s.plan.plan->registry, s.state); }),
           "The graph with its beliefs as text for Graphviz.")
      .def("_repr_svg_",
           when_alone(+[](StateHandle& s) { return svg_of(to_dot(*s.plan.graph, *s.plan.plan->registry, s.state)); }))
      .def("_repr_html_", &page_of_state);
  module.def("run", &run_state, py::arg("plan"), py::arg("state"), py::kw_only(), py::arg("warm") = false,
             py::arg("diagnose") = true, py::arg("callback") = py::none(), py::arg("seconds") = py::none(),
             "Solves; the report says what the answer is worth. A callback that returns False stops it.");
}

}  // namespace

void bind_run(py::module_& module) {
  bind_plan(module);
  bind_state(module);
}

}  // namespace dma::python
