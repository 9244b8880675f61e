// compile, State and run; and solve, which chooses how a graph is solved.
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
#include "engine/inspect/inspect.h"
#include "engine/joint/joint.h"
#include "engine/support/text.h"
#include "models/graphs/model.h"
#include "tools/python/handles.h"

namespace dma::python {

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
  // An element that is None, or masked, is missing; a NaN is a mistake.
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

void observe_all(State& state, const Graph& graph, const py::dict& values) {
  for (const auto& [variable, value] : values)
    observe_values(state, graph, id_of(graph, py::reinterpret_borrow<py::object>(variable)),
                   py::reinterpret_borrow<py::object>(value));
}

namespace {

// Asked between sweeps whether to go on: by Ctrl-C and by whoever called. An exception of Python is kept until the run
// has ended; its messages stay, and a warm run goes on. Without a listener the interpreter's lock is taken a few times
// a second only: with many threads it may take a while to get.
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

SharedState copy_of(StateHandle& s) { return std::make_shared<StateHandle>(s.plan, s.state.copy()); }

std::string dot_of(StateHandle& s) { return to_dot(*s.plan.graph, *s.plan.plan->registry, s.state); }

// The picture, where Graphviz is installed, and the beliefs as a table.
py::object page_of_state(StateHandle& s) {
  constexpr std::size_t kMostRows = 40;
  py::list rows;
  for (std::uint32_t v = 0; v < s.plan.graph->variables().size(); ++v) {
    if (s.plan.plan->variables[v].eliminated) continue;
    const std::string& name = s.plan.graph->variables()[v].name;
    const Belief belief = s.state.belief(s.plan.graph->variable_id(v));
    for (std::size_t i = 0; i < belief.size() && rows.size() < kMostRows; ++i)
      rows.append(py::make_tuple(belief.size() == 1 ? name : fmt::format("{}[{}]", name, i),
                                 belief.family()->text(belief.message(i))));
  }
  const py::module_ pictures = py::module_::import("dma.pictures");
  const py::object drawn = svg_of(dot_of(s));
  return pictures.attr("with_table")(drawn, pictures.attr("table")(py::make_tuple("variable", "belief"), rows));
}

}  // namespace

void bind_run(py::module_& module) {
  Class<PlanHandle>(module, "Plan", "A compiled graph: immutable, shared by any number of states.")
      .get("messages_per_sweep", "", [](const PlanHandle& p) { return p.plan.messages_per_sweep(); })
      .get("bytes", "", [](const PlanHandle& p) { return p.plan.bytes(); })
      .def("describe()", "The operations of the plan, one per line.",
           [](const PlanHandle& p) { return describe(p.plan); })
      .def("dot()", "As text for Graphviz.", [](const PlanHandle& p) { return to_dot(*p.graph, *p.plan->registry); })
      .def("_repr_svg_()", "", [](const PlanHandle& p) { return svg_of(to_dot(*p.graph, *p.plan->registry)); })
      .def("__repr__()", "", [](const PlanHandle& p) {
        return fmt::format("<dma.Plan: {} variables, {} messages a sweep>", p.plan->variables.size(),
                           p.plan.messages_per_sweep());
      });
  def(module,
      "compile(graph, schedule='forward_backward', registry=None, *, kinds=[], method='dma', kind_methods={}, "
      "fuse=True, unobserved=[], predicted=[], may_be_missing=[])",
      "A plan of a graph: how it is solved, by a schedule, joint() or exact(), or the name of one.", &compile_graph);
  Class<StateHandle, SharedState>(module, "State", "Every number that changes while a plan runs.")
      .init("plan", [](const PlanHandle& plan) { return std::make_shared<StateHandle>(plan, State(plan.plan)); })
      .def("observe(variable, values)", "None is missing; a category may be given by its name.",
           [](StateHandle& s, const py::object& variable, const py::object& values) {
             observe_values(s.state, *s.plan.graph, id_of(s.plan, variable), values);
           })
      .def("freeze(variable)", "Messages to it stay as they are, whatever the others hear.",
           [](StateHandle& s, const py::object& variable) { s.state.freeze(id_of(s.plan, variable)); })
      .def("thaw(variable)", "Lets a frozen variable learn again.",
           [](StateHandle& s, const py::object& variable) { s.state.thaw(id_of(s.plan, variable)); })
      .def("is_frozen(variable)", "Whether the variable is frozen.",
           [](StateHandle& s, const py::object& variable) { return s.state.is_frozen(id_of(s.plan, variable)); })
      .def("set_parameter(factor, parameter, values)", "Other numbers for a factor, in this state.",
           [](StateHandle& s, const py::object& factor, const std::string& name, const py::object& values) {
             const ParameterValue value = parameter_of(name, values);
             s.state.set_parameter(factor_of(s.plan, factor), name,
                                   std::span(value.numbers.begin(), value.numbers.size()));
           })
      .def("set_table(factor, port, elements)", "The elements that given(...) left open.",
           [](StateHandle& s, const py::object& factor, const std::string& port,
              const std::vector<std::uint32_t>& elements) {
             s.state.set_table(factor_of(s.plan, factor), port, std::span<const std::uint32_t>(elements));
           })
      .def("belief(variable)", "The belief of a variable.",
           [](StateHandle& s, const py::object& variable) {
             return std::make_shared<Belief>(s.state.belief(id_of(s.plan, variable)));
           })
      .def("beliefs()", "Beliefs of all variables by name.",
           [](StateHandle& s) {
             py::dict all;
             for (std::uint32_t v = 0; v < s.plan.graph->variables().size(); ++v)
               if (!s.plan.plan->variables[v].eliminated)
                 all[py::str(s.plan.graph->variables()[v].name)] =
                     std::make_shared<Belief>(s.state.belief(s.plan.graph->variable_id(v)));
             return all;
           })
      .def("messages(factor, port)", "Mean and variance of the messages to a port, slot by slot.",
           [](StateHandle& s, const py::object& factor, const std::string& port) {
             std::vector<double> moments;
             for (const Gaussian& message : s.state.messages(factor_of(s.plan, factor), port))
               moments.insert(moments.end(), {message.mean(), message.variance()});
             const std::size_t rows = moments.size() / 2;
             return as_array(std::move(moments), rows, 2);
           })
      .def("reset()", "Forgets all messages, but no values.", [](StateHandle& s) { s.state.reset(); })
      .def("copy()", "An independent copy.", &copy_of)
      .def("__copy__()", "", &copy_of)
      .get("plan", "", [](const StateHandle& s) { return s.plan; })
      .def("dot()", "The graph with its beliefs as text for Graphviz.", &dot_of)
      .def("_repr_svg_()", "", [](StateHandle& s) { return svg_of(dot_of(s)); })
      .def("_repr_html_()", "", &page_of_state)
      .def("__repr__()", "", [](const StateHandle& s) {
        return fmt::format("<dma.State of {} variables>", s.plan.plan->variables.size());
      });
  def(module, "run(plan, state, *, warm=False, diagnose=True, callback=None, seconds=None)",
      "Solves; the report says what the answer is worth. A callback that returns False stops it.", &run_state);
}

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
  Class<AnswerHandle>(module, "Answer", "The result of solve, its solver, and why that one.")
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
