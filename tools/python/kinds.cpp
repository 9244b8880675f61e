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
#include "engine/certify/run_certificate.h"
#include "engine/exact/exact.h"
#include "engine/joint/joint.h"
#include "engine/support/error.h"
#include "factors/authoring/from_function.h"
#include "factors/authoring/from_log_density.h"
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
  py::class_<Domain>(module, "Domain", "The numbers that a parameter may take.")
      .def("__contains__", &Domain::contains)
      .def("__and__", &Domain::operator&)
      .def("__repr__", [](const Domain& d) { return fmt::format("<dma.Domain {}>", describe(d)); })
      .def(py::pickle(
          [](const Domain& d) { return std::tuple(d.low, d.high, d.low_open, d.high_open, d.whole, d.only, d.advice); },
          [](const std::tuple<double, double, bool, bool, bool, std::vector<double>, std::string>& d) {
            return std::apply([](auto... fields) { return Domain{fields...}; }, d);
          }));
  module.def("above", &above, py::arg("bound"), "Numbers greater than the bound.");
  module.def("at_least", &at_least, py::arg("bound"), "The bound or more.");
  module.def("below", &below, py::arg("bound"), "Numbers less than the bound.");
  module.def("at_most", &at_most, py::arg("bound"), "The bound or less.");
  module.def("finite", &finite, "Any finite number.");
  module.def("one_of", &one_of, py::arg("values"), "One of these numbers.");
}

void bind_certificates(py::module_& module) {
  py::class_<EdgeCertificate>(module, "EdgeCertificate", "What was found about the messages to one port.")
      .def_readonly("port", &EdgeCertificate::port)
      .def_property_readonly("band", [](const EdgeCertificate& e) { return name(e.band); })
      .def_readonly("failures", &EdgeCertificate::failures);
  py::class_<Certificate>(module, "Certificate", "How good the messages of a kind are.")
      .def_readonly("kind", &Certificate::kind)
      .def_readonly("method", &Certificate::method)
      .def_readonly("edges", &Certificate::edges)
      .def_property_readonly("band", [](const Certificate& c) { return name(c.band); })
      .def("text", &Certificate::text, "All that was found, port by port.")
      .def("__repr__", &Certificate::line)
      .def("_repr_html_", [](const Certificate& c) { return html_of(c.text()); });
  module.def(
      "certify",
      [](const Kind& kind, const std::string& method, bool quick, std::uint64_t seed) {
        CertifyOptions options = quick ? quick_certification() : CertifyOptions{};
        options.seed = seed;
        options.progress = [](const std::string&) { throw_pending_signal(); };  // Ctrl-C
        const Kind own = kind;
        const std::string by = !method.empty() || own.methods().empty() ? method : own.methods().front();
        const py::gil_scoped_release unlocked;
        return certify(own, by, options);
      },
      py::arg("kind"), py::arg("method") = "", py::kw_only(), py::arg("quick") = false, py::arg("seed") = 1,
      "Measures how good the messages of a kind are.");
}

void bind_run_certificates(py::module_& module) {
  py::class_<EdgeError>(module, "EdgeError", "How wrong the message from one slot of a factor is.")
      .def_property_readonly("place", [](const EdgeError& e) { return e.place.text(); })
      .def_readonly("kind", &EdgeError::kind)
      .def_readonly("r", &EdgeError::r)
      .def_readonly("delta", &EdgeError::delta)
      .def_readonly("bound", &EdgeError::bound)
      .def_readonly("marginal", &EdgeError::marginal);
  py::class_<RunCertificate>(module, "RunCertificate", "How wrong the messages of a run are.")
      .def_readonly("edges", &RunCertificate::edges)
      .def_property_readonly(
          "worst",
          [](const RunCertificate& c) { return c.worst() == nullptr ? std::nullopt : std::optional(*c.worst()); })
      .def("text", &RunCertificate::text, "The error of every message.")
      .def("__repr__", &RunCertificate::line)
      .def("_repr_html_", [](const RunCertificate& c) { return html_of(c.text()); });
  const RunCertificateOptions usual;
  module.def(
      "certificate",
      when_alone(
          +[](StateHandle& s, const py::object& variable, std::size_t dimensions, double tolerance, std::size_t limit) {
            const RunCertificateOptions options{dimensions, tolerance, limit};
            const auto id = variable.is_none() ? std::nullopt : std::optional(id_of(s.plan, variable));
            return without_lock([&] {
              return id ? certificate(s.plan.plan, s.state, *id, options) : certificate(s.plan.plan, s.state, options);
            });
          }),
      py::arg("state"), py::arg("variable") = py::none(), py::kw_only(), py::arg("dimensions") = usual.dimensions,
      py::arg("tolerance") = usual.tolerance, py::arg("limit") = usual.limit,
      "Every message to a variable, or to all of them, against the exact one, after a run by sweeps.");
}

using Observe = std::function<void(State&)>;

template <class Compare>
void define_comparison(py::module_& module, const char* name, const char* words, const Compare& compare) {
  module.def(
      name,
      [compare](const Graph& given, const py::dict& values, const py::object& schedule, const py::object& registry,
                const std::vector<Kind>& kinds, const std::string& method) {
        const Graph graph = given;  // nobody adds to it while the lock is released
        const Registry known = registry_with(registry, kinds);
        const Scheduler rule = sweeps_of(schedule);
        const Observe observe = [&](State& state) {
          const py::gil_scoped_acquire locked;
          for (const auto& [variable, value] : values)
            observe_values(state, graph, id_of(graph, py::reinterpret_borrow<py::object>(variable)),
                           py::reinterpret_borrow<py::object>(value));
        };
        return without_lock([&] { return compare(graph, rule, known, observe, CompileOptions{.method = method}); });
      },
      py::arg("graph"), py::arg("values"), py::arg("schedule") = "flooding", py::arg("registry") = py::none(),
      py::kw_only(), py::arg("kinds") = std::vector<Kind>{}, py::arg("method") = "dma", words);
}

void bind_comparisons(py::module_& module) {
  py::class_<JointComparison>(module, "JointComparison", "One graph solved by sweeps and by joint().")
      .def_readonly("sweeps", &JointComparison::sweeps)
      .def_readonly("joint", &JointComparison::joint)
      .def_property_readonly(
          "rows",
          [](const JointComparison& c) {
            std::vector<std::tuple<std::string, double, double>> rows;
            for (const auto& row : c.rows) rows.emplace_back(row.variable, row.mean_difference, row.variance_ratio);
            return rows;
          },
          "Variable, how far means are apart in standard deviations by joint(), variance by sweeps / by joint().")
      .def("__repr__", [](const JointComparison& c) { return brief(c.text()); });
  py::class_<ExactComparison>(module, "ExactComparison", "One discrete graph solved by sweeps and by exact().")
      .def_readonly("sweeps", &ExactComparison::sweeps)
      .def_readonly("log_evidence_of_sweeps", &ExactComparison::log_evidence_of_sweeps)
      .def_readonly("log_evidence", &ExactComparison::log_evidence)
      .def_property_readonly(
          "rows",
          [](const ExactComparison& c) {
            std::vector<std::pair<std::string, double>> rows;
            for (const auto& row : c.rows) rows.emplace_back(row.variable, row.difference);
            return rows;
          },
          "Variable, and how far a probability by sweeps is from the exact one at most.")
      .def("__repr__", [](const ExactComparison& c) { return brief(c.text()); });
  define_comparison(
      module, "compare_with_joint",
      "What sweeps get wrong: the graph with these values of its observed variables, by sweeps and by joint().",
      [](const Graph& g, const Scheduler& rule, const Registry& r, const Observe& observe, const CompileOptions& how) {
        return compare_with_joint(g, rule, r, observe, {}, how);
      });
  define_comparison(
      module, "compare_with_exact",
      "What sweeps get wrong: the graph with these values of its observed variables, by sweeps and by exact().",
      [](const Graph& g, const Scheduler& rule, const Registry& r, const Observe& observe, const CompileOptions& how) {
        return compare_with_exact(g, rule, r, observe, {}, how);
      });
}

}  // namespace

void bind_judgements(py::module_& module) {
  bind_run_certificates(module);
  bind_comparisons(module);
}

void bind_kinds(py::module_& module) {
  bind_domains(module);
  py::class_<Kind>(module, "Kind", "What a factor is, and how its messages are computed.", py::dynamic_attr())
      .def_property_readonly("name", &Kind::name)
      .def_property_readonly("summary", &Kind::summary)
      .def_property_readonly("ports",
                             [](const Kind& kind) {
                               std::vector<std::string> names;
                               for (const PortSpec& port : kind.ports()) names.push_back(port.name);
                               return names;
                             })
      .def_property_readonly("families",
                             [](const Kind& kind) {
                               std::vector<std::string> names;
                               for (const PortSpec& port : kind.ports())
                                 names.emplace_back(port.family && *port.family != kGaussian ? *port.family : "");
                               return names;
                             })
      .def_property_readonly("methods", &Kind::methods)
      .def(
          "describe", [](const Kind& kind) { return describe(kind); }, "Ports, parameters and methods as text.")
      .def("__deepcopy__", [](const py::object& self, const py::dict&) { return self; })  // nothing of it changes
      .def("__reduce__",
           [](const py::object& self) {
             if (!py::hasattr(self, "made_by"))
               throw py::type_error("cannot pickle a dma.Kind that was not made from a Python function");
             return self.attr("made_by");
           })
      .def("__repr__", [](const Kind& kind) { return fmt::format("<dma.Kind {}: {}>", kind.name(), kind.summary()); });
  py::class_<Registry>(module, "Registry", "The kinds that a graph may be made of.")
      .def(py::init([] { return built_in_kinds(); }))
      .def(
          "add", [](Registry& registry, const Kind& kind) -> Registry& { return registry.add(kind); }, py::arg("kind"),
          py::return_value_policy::reference_internal, "Adds a kind.")
      .def(
          "kind", [](const Registry& registry, const std::string& name) { return registry.kind(name); },
          py::arg("name"), "The kind of this name.")
      .def(
          "describe", [](const Registry& registry) { return describe(registry); }, "All kinds, one per line.")
      .def("__contains__", [](const Registry& registry, const std::string& name) { return registry.contains(name); })
      .def("__iter__",
           [](const Registry& registry) {
             py::list names;
             for (const auto& [name, kind] : registry.kinds()) names.append(name);
             return py::iter(names);
           })
      .def("__repr__",
           [](const Registry& registry) { return fmt::format("<dma.Registry of {} kinds>", registry.kinds().size()); })
      .def("__len__", [](const Registry& registry) { return registry.kinds().size(); });
  module.def(
      "standard_registry", [] { return built_in_kinds(); }, "The built-in kinds.");

  module.def(
      "factor_from_function",
      [](const std::string& name, const std::vector<std::string>& inputs, const py::object& function,
         const std::string& summary, const std::vector<ParameterWords>& parameters) {
        return factor_from_function(name, inputs, Kind::Function(PythonFunction(name, function, names_of(parameters))),
                                    summary, specs_of(parameters));
      },
      py::arg("name"), py::arg("inputs"), py::arg("function"), py::arg("summary"), py::arg("parameters"));
  module.def(
      "factor_from_vector_function",
      [](const std::string& name, std::size_t inputs, std::size_t outputs, const py::object& function,
         const std::string& summary, const std::vector<ParameterWords>& parameters) {
        return detail::vector_kind(name, {inputs, outputs}, PythonFunction(name, function, names_of(parameters)), {},
                                   summary, specs_of(parameters));
      },
      py::arg("name"), py::arg("inputs"), py::arg("outputs"), py::arg("function"), py::arg("summary"),
      py::arg("parameters"));
  module.def(
      "factor_from_log_density",
      [](const std::string& name, const std::vector<std::string>& ports, std::size_t latent, const py::object& function,
         const std::string& summary, const std::vector<ParameterWords>& parameters) {
        return factor_from_log_density(name, ports, latent, PythonFunction(name, function, names_of(parameters)),
                                       summary, specs_of(parameters));
      },
      py::arg("name"), py::arg("ports"), py::arg("latent"), py::arg("function"), py::arg("summary"),
      py::arg("parameters"));
  bind_certificates(module);
}

}  // namespace dma::python
