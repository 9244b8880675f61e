// Kinds of factors: the registry, kinds made from functions written in Python. Certificates of kinds and of runs, and
// comparisons of two solvers.
#include <fmt/format.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <optional>

#include "engine/certify/certify.h"
#include "engine/exact/exact.h"
#include "engine/joint/joint.h"
#include "engine/support/text.h"
#include "factors/authoring/from_function.h"
#include "tools/python/handles.h"

namespace dma::python {

namespace {

// Released where the last copy of a kind goes, which may be a thread without the interpreter's lock.
void release(PyObject* object) {
  if (Py_IsInitialized() == 0) return;
  const py::gil_scoped_acquire locked;
  Py_DECREF(object);
}

// A function written in Python, called as f(value, ..., parameter=...), or with an array of all values as
// f(values, parameter=...). It takes the interpreter's lock for itself; what it raises passes through the engine as it
// is.
class PythonFunction {
 public:
  PythonFunction(const std::string& name, const py::object& function, const std::vector<std::string>& parameters)
      : name_(name), function_(py::object(function).release().ptr(), &release) {
    py::tuple names(parameters.size());
    for (std::size_t i = 0; i < parameters.size(); ++i) names[i] = py::str(parameters[i]);
    if (!parameters.empty()) names_ = {names.release().ptr(), &release};
  }

  double operator()(std::span<const double> values, std::span<const double> parameters) const {
    const py::gil_scoped_acquire locked;
    std::vector<py::object> arguments;
    for (const double value : values) arguments.push_back(py::float_(value));
    const py::object found = call(std::move(arguments), parameters);
    if (!found) return kOutside;
    const double result = PyFloat_AsDouble(found.ptr());
    if (PyErr_Occurred() != nullptr) throw py::error_already_set();
    return result;
  }

  void operator()(std::span<const double> values, std::span<const double> parameters, std::span<double> outputs) const {
    const py::gil_scoped_acquire locked;
    const py::object found = call({as_array({values.begin(), values.end()})}, parameters);
    if (!found) {
      std::ranges::fill(outputs, kOutside);
      return;
    }
    const Array numbers = numbers_in(found);
    if (!numbers) throw py::type_error(fmt::format("{} returned {}; numbers are expected", name_, shown(found)));
    const auto all = span_of(numbers);
    if (all.size() != outputs.size()) detail::refuse_outputs(name_, all.size(), outputs.size());
    std::ranges::copy(all, outputs.begin());
  }

 private:
  static constexpr double kOutside = std::numeric_limits<double>::quiet_NaN();

  // Null where Python raises what in C++ is an infinity: 1e200 ** 2.
  py::object call(std::vector<py::object> arguments, std::span<const double> parameters) const {
    const std::size_t by_place = arguments.size();
    for (const double value : parameters) arguments.push_back(py::float_(value));
    std::vector<PyObject*> pointers;
    for (const py::object& argument : arguments) pointers.push_back(argument.ptr());
    auto found = py::reinterpret_steal<py::object>(
        PyObject_Vectorcall(function_.get(), pointers.data(), by_place, names_.get()));
    if (found) return found;
    if (PyErr_ExceptionMatches(PyExc_OverflowError) == 0) throw py::error_already_set();
    PyErr_Clear();
    return found;
  }

  std::string name_;
  std::shared_ptr<PyObject> function_, names_;
};

// A parameter as Python writes it: its name, its domain, and what it is where it is not given.
using ParameterWords = std::tuple<std::string, Domain, std::optional<double>>;

std::vector<ParameterSpec> specs_of(const std::vector<ParameterWords>& words) {
  std::vector<ParameterSpec> specs;
  for (const auto& [name, domain, fallback] : words) specs.push_back({name, domain, fallback});
  return specs;
}
std::vector<std::string> names_of(const std::vector<ParameterWords>& words) {
  std::vector<std::string> names;
  for (const auto& word : words) names.push_back(std::get<0>(word));
  return names;
}

void bind_domains(py::module_& module) {
  Class<Domain>(module, "Domain", "The numbers that a parameter may take.")
      .def("__contains__(value)", "", &Domain::contains)
      .def("__and__(other)", "", &Domain::operator&)
      .def("__repr__()", "", [](const Domain& d) { return fmt::format("<dma.Domain {}>", describe(d)); })
      .pickled(
          [](const Domain& d) { return std::tuple(d.low, d.high, d.low_open, d.high_open, d.whole, d.only, d.advice); },
          [](const std::tuple<double, double, bool, bool, bool, std::vector<double>, std::string>& d) {
            return std::apply([](auto... fields) { return Domain{fields...}; }, d);
          });
  def(module, "above(bound)", "Numbers greater than the bound.", &above);
  def(module, "at_least(bound)", "The bound or more.", &at_least);
  def(module, "below(bound)", "Numbers less than the bound.", &below);
  def(module, "at_most(bound)", "The bound or less.", &at_most);
  def(module, "finite()", "Any finite number.", &finite);
  def(module, "one_of(values)", "One of these numbers.", &one_of);
}

void bind_certificates(py::module_& module) {
  Class<EdgeCertificate>(module, "EdgeCertificate", "The result of checking the messages to one port.")
      .get("port", "", &EdgeCertificate::port)
      .get("band", "", [](const EdgeCertificate& e) { return name(e.band); })
      .get("failures", "", &EdgeCertificate::failures);
  Class<Certificate>(module, "Certificate", "How good the messages of a kind are.")
      .get("kind", "", &Certificate::kind)
      .get("method", "", &Certificate::method)
      .get("edges", "", &Certificate::edges)
      .get("band", "", [](const Certificate& c) { return name(c.band); })
      .printed("All that was found, port by port.");
  def(module, "certify(kind, method='', *, quick=False, seed=1)", "Measures how good the messages of a kind are.",
      [](const Kind& kind, const std::string& method, bool quick, std::uint64_t seed) {
        CertifyOptions options = quick ? quick_certification() : CertifyOptions{};
        options.seed = seed;
        options.progress = [](const std::string&) { throw_pending_signal(); };  // Ctrl-C
        const Kind own = kind;
        const std::string by = !method.empty() || own.methods().empty() ? method : own.methods().front();
        return without_lock([&] { return certify(own, by, options); });
      });
}

void bind_run_certificates(py::module_& module) {
  Class<EdgeError>(module, "EdgeError", "How wrong the message from one slot of a factor is.")
      .get("place", "", [](const EdgeError& e) { return e.place.text(); })
      .get("kind", "", &EdgeError::kind)
      .get("r", "", &EdgeError::r)
      .get("delta", "", &EdgeError::delta)
      .get("bound", "", &EdgeError::bound)
      .get("marginal", "", &EdgeError::marginal);
  Class<RunCertificate>(module, "RunCertificate", "How wrong the messages of a run are.")
      .get("edges", "", &RunCertificate::edges)
      .get("worst", "",
           [](const RunCertificate& c) { return c.worst() == nullptr ? std::nullopt : std::optional(*c.worst()); })
      .printed("The error of every message.");
  const RunCertificateOptions usual;
  def(module,
      fmt::format("certificate(state, variable=None, *, dimensions={}, tolerance={}, limit={})", usual.dimensions,
                  usual.tolerance, usual.limit),
      "Every message to a variable, or to all of them, against the exact one, after a run by sweeps.",
      [](StateHandle& s, const py::object& variable, std::size_t dimensions, double tolerance, std::size_t limit) {
        const RunCertificateOptions options{dimensions, tolerance, limit};
        const auto id = variable.is_none() ? std::nullopt : std::optional(id_of(s.plan, variable));
        return without_lock([&] {
          return id ? certificate(s.plan.plan, s.state, *id, options) : certificate(s.plan.plan, s.state, options);
        });
      });
}

using Observe = std::function<void(State&)>;

// Both comparisons: by sweeps, and by the solver that `compare` calls.
template <class Compare>
void def_comparison(py::module_& module, const std::string& solver, const char* doc, Compare compare) {
  def(module,
      "compare_with_" + solver + "(graph, values, schedule='flooding', registry=None, *, kinds=[], method='dma')", doc,
      [compare](const Graph& given, const py::dict& values, const py::object& schedule, const py::object& registry,
                const std::vector<Kind>& kinds, const std::string& method) {
        const Graph graph = given;  // nobody adds to it while the lock is released
        const Registry known = registry_with(registry, kinds);
        const Scheduler rule = sweeps_of(schedule);
        const Observe observe = [&](State& state) {
          const py::gil_scoped_acquire locked;
          observe_all(state, graph, values);
        };
        return without_lock([&] { return compare(graph, rule, known, observe, {}, CompileOptions{.method = method}); });
      });
}

void bind_comparisons(py::module_& module) {
  Class<JointComparison>(module, "JointComparison", "One graph solved by sweeps and by joint().")
      .get("sweeps", "", &JointComparison::sweeps)
      .get("joint", "", &JointComparison::joint)
      .get("rows",
           "Variable, how far means are apart in standard deviations by joint(), variance by sweeps / by joint().",
           [](const JointComparison& c) {
             std::vector<std::tuple<std::string, double, double>> rows;
             for (const auto& row : c.rows) rows.emplace_back(row.variable, row.mean_difference, row.variance_ratio);
             return rows;
           })
      .def("__repr__()", "", [](const JointComparison& c) { return brief(c.text()); });
  Class<ExactComparison>(module, "ExactComparison", "One discrete graph solved by sweeps and by exact().")
      .get("sweeps", "", &ExactComparison::sweeps)
      .get("log_evidence_of_sweeps", "", &ExactComparison::log_evidence_of_sweeps)
      .get("log_evidence", "", &ExactComparison::log_evidence)
      .get("rows", "Variable, and how far a probability by sweeps is from the exact one at most.",
           [](const ExactComparison& c) {
             std::vector<std::pair<std::string, double>> rows;
             for (const auto& row : c.rows) rows.emplace_back(row.variable, row.difference);
             return rows;
           })
      .def("__repr__()", "", [](const ExactComparison& c) { return brief(c.text()); });
  def_comparison(module, "joint",
                 "Compares sweeps with joint() on the graph, with these values of its observed variables.",
                 &compare_with_joint);
  def_comparison(module, "exact",
                 "Compares sweeps with exact() on the graph, with these values of its observed variables.",
                 &compare_with_exact);
}

// A kind from Python: maker(name, function as C++ calls it, what is given besides, summary, parameters).
template <class... Given, class Make>
void def_factor(py::module_& module, const std::string& words, Make make) {
  def(module, words, "",
      [make](const std::string& name, Given... given, const py::object& function, const std::string& summary,
             const std::vector<ParameterWords>& parameters) {
        return make(name, given..., PythonFunction(name, function, names_of(parameters)), summary,
                    specs_of(parameters));
      });
}

}  // namespace

void bind_judgements(py::module_& module) {
  bind_run_certificates(module);
  bind_comparisons(module);
}

void bind_kinds(py::module_& module) {
  bind_domains(module);
  const auto of_ports = [](auto text) {
    return [text](const Kind& kind) {
      std::vector<std::string> all;
      for (const PortSpec& port : kind.ports()) all.push_back(text(port));
      return all;
    };
  };
  const auto family = [](const PortSpec& port) {
    return std::string(port.family && *port.family != kGaussian ? *port.family : "");
  };
  Class<Kind>(module, "Kind", "The definition of a factor, and how its messages are computed.", py::dynamic_attr())
      .get("name", "", &Kind::name)
      .get("summary", "", &Kind::summary)
      .get("ports", "Their names.", of_ports([](const PortSpec& port) { return port.name; }))
      .get("families", "Families that the ports ask for; empty for Gaussians and for any.", of_ports(family))
      .get("methods", "", &Kind::methods)
      .def("describe()", "Ports, parameters and methods as text.", [](const Kind& kind) { return describe(kind); })
      .def("__deepcopy__(memo)", "", [](const py::object& self, const py::dict&) { return self; })  // it never changes
      .def("__reduce__()", "",
           [](const py::object& self) {
             if (!py::hasattr(self, "made_by"))
               throw py::type_error("cannot pickle a dma.Kind that was not made from a Python function");
             return self.attr("made_by");
           })
      .def("__repr__()", "",
           [](const Kind& kind) { return fmt::format("<dma.Kind {}: {}>", kind.name(), kind.summary()); });
  Class<Registry>(module, "Registry", "The kinds that a graph may be made of.")
      .init("", [] { return built_in_kinds(); })
      .def(
          "add(kind)", "Adds a kind.",
          [](Registry& registry, const Kind& kind) -> Registry& { return registry.add(kind); },
          py::return_value_policy::reference_internal)
      .def("kind(name)", "The kind of this name.",
           [](const Registry& registry, const std::string& name) { return registry.kind(name); })
      .def("describe()", "All kinds, one per line.", [](const Registry& registry) { return describe(registry); })
      .def("__contains__(name)", "",
           [](const Registry& registry, const std::string& name) { return registry.contains(name); })
      .def("__iter__()", "",
           [](const Registry& registry) {
             py::list names;
             for (const auto& [name, kind] : registry.kinds()) names.append(name);
             return py::iter(names);
           })
      .def("__repr__()", "",
           [](const Registry& registry) { return fmt::format("<dma.Registry of {} kinds>", registry.kinds().size()); })
      .def("__len__()", "", [](const Registry& registry) { return registry.kinds().size(); });
  def(module, "standard_registry()", "The built-in kinds.", [] { return built_in_kinds(); });
  using Names = std::vector<std::string>;
  def_factor<Names>(module, "factor_from_function(name, inputs, function, summary, parameters)",
                    [](const std::string& name, const Names& inputs, PythonFunction function, const auto&... words) {
                      return factor_from_function(name, inputs, Kind::Function(std::move(function)), words...);
                    });
  def_factor<std::size_t, std::size_t>(
      module, "factor_from_vector_function(name, inputs, outputs, function, summary, parameters)",
      [](const std::string& name, std::size_t inputs, std::size_t outputs, PythonFunction function,
         const auto&... words) {
        return detail::vector_kind(name, {inputs, outputs}, std::move(function), {}, words...);
      });
  def_factor<Names, std::size_t>(
      module, "factor_from_log_density(name, ports, latent, function, summary, parameters)",
      [](const std::string& name, const Names& ports, std::size_t latent, PythonFunction function,
         const auto&... words) { return factor_from_log_density(name, ports, latent, std::move(function), words...); });
  bind_certificates(module);
}

}  // namespace dma::python
