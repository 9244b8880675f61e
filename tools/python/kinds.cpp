// Kinds of factors: the registry, kinds made from functions written in Python, and their certificates.
#include <fmt/format.h>
#include <pybind11/stl.h>

#include <array>
#include <limits>
#include <optional>

#include "engine/certify/certify.h"
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

// A function written in Python, called as f(value, ..., parameter=...). It takes the interpreter's lock for itself;
// what it raises passes through the engine as it is.
class PythonFunction {
 public:
  PythonFunction(const py::object& function, const std::vector<std::string>& parameters)
      : function_(py::object(function).release().ptr(), &release) {
    py::tuple names(parameters.size());
    for (std::size_t i = 0; i < parameters.size(); ++i) names[i] = py::str(parameters[i]);
    if (!parameters.empty()) names_ = {names.release().ptr(), &release};
  }

  double operator()(std::span<const double> values, std::span<const double> parameters) const {
    const py::gil_scoped_acquire locked;
    std::vector<py::object> arguments;
    for (const double value : values) arguments.push_back(py::float_(value));
    for (const double value : parameters) arguments.push_back(py::float_(value));
    std::vector<PyObject*> pointers;
    for (const py::object& argument : arguments) pointers.push_back(argument.ptr());
    const auto found = py::reinterpret_steal<py::object>(
        PyObject_Vectorcall(function_.get(), pointers.data(), values.size(), names_.get()));
    if (!found) {
      if (PyErr_ExceptionMatches(PyExc_OverflowError) == 0) throw py::error_already_set();
      PyErr_Clear();  // 1e200 ** 2: where C++ has an infinity, Python raises
      return std::numeric_limits<double>::quiet_NaN();
    }
    const double result = PyFloat_AsDouble(found.ptr());
    if (PyErr_Occurred() != nullptr) throw py::error_already_set();
    return result;
  }

 private:
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
      .def("__repr__", [](const Domain& d) { return fmt::format("<dma.Domain {}>", describe(d)); });
  module.def("above", &above, py::arg("bound"));
  module.def("at_least", &at_least, py::arg("bound"));
  module.def("below", &below, py::arg("bound"));
  module.def("at_most", &at_most, py::arg("bound"));
  module.def("finite", &finite);
  module.def("one_of", &one_of, py::arg("values"));
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
      .def("text", &Certificate::text)
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
      py::arg("kind"), py::arg("method") = "", py::kw_only(), py::arg("quick") = false, py::arg("seed") = 1);
}

}  // namespace

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
      .def_property_readonly("methods", &Kind::methods)
      .def("describe", [](const Kind& kind) { return describe(kind); })
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
          py::return_value_policy::reference_internal)
      .def(
          "kind", [](const Registry& registry, const std::string& name) { return registry.kind(name); },
          py::arg("name"))
      .def("describe", [](const Registry& registry) { return describe(registry); })
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
  module.def("standard_registry", [] { return built_in_kinds(); });

  module.def(
      "factor_from_function",
      [](const std::string& name, const std::vector<std::string>& inputs, const py::object& function,
         const std::string& summary, const std::vector<ParameterWords>& parameters) {
        return factor_from_function(name, inputs, Kind::Function(PythonFunction(function, names_of(parameters))),
                                    summary, specs_of(parameters));
      },
      py::arg("name"), py::arg("inputs"), py::arg("function"), py::arg("summary"), py::arg("parameters"));
  module.def(
      "factor_from_log_density",
      [](const std::string& name, const std::vector<std::string>& ports, std::size_t latent, const py::object& function,
         const std::string& summary, const std::vector<ParameterWords>& parameters) {
        return factor_from_log_density(name, ports, latent, PythonFunction(function, names_of(parameters)), summary,
                                       specs_of(parameters));
      },
      py::arg("name"), py::arg("ports"), py::arg("latent"), py::arg("function"), py::arg("summary"),
      py::arg("parameters"));
  bind_certificates(module);
}

}  // namespace dma::python
