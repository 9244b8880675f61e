#include <algorithm>
#include <string_view>

#include "engine/support/error.h"
#include "tools/dma/help/version.h"
#include "tools/python/bindings.h"

namespace dma::python {

Array numbers_in(py::handle values) {
  const py::array given = py::array::ensure(values);
  if (given && std::string_view("biufO").find(given.dtype().kind()) != std::string_view::npos)
    if (const Array numbers = Array::ensure(given)) return numbers;
  PyErr_Clear();
  return py::reinterpret_steal<Array>(py::handle());
}

std::string shown(py::handle object) {
  constexpr std::size_t kMost = 120;
  const py::str whole = py::repr(object);
  if (py::len(whole) <= kMost) return whole;
  return std::string(py::str(whole[py::slice(0, kMost, 1)])) + "...";
}

std::string brief(const std::string& text) {
  constexpr std::ptrdiff_t kMost = 20;
  const std::ptrdiff_t lines = std::ranges::count(text, '\n') + 1;
  if (lines <= kMost) return text;
  std::size_t end = 0;
  for (std::ptrdiff_t i = 0; i + 1 < kMost; ++i) end = text.find('\n', end) + 1;
  return text.substr(0, end) + "... and " + std::to_string(lines - kMost + 1) + " more lines";
}

std::string html_of(const std::string& text) {
  std::string html = "<pre>";
  for (const char c : text) {
    if (c == '&')
      html += "&amp;";
    else if (c == '<')
      html += "&lt;";
    else if (c == '>')
      html += "&gt;";
    else
      html += c;
  }
  return html + "</pre>";
}

void throw_pending_signal() {
  const py::gil_scoped_acquire locked;
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
}

// pybind11 ends the process where the oldest two protocols of pickle ask for an object without its class: they are told
// of a later one, which every reader of pickles knows.
void give_old_pickles_a_new_protocol(const py::module_& module) {
  const py::object plain = py::module_::import("builtins").attr("object").attr("__reduce_ex__");
  for (const auto& [name, value] : py::dict(module.attr("__dict__"))) {
    if (!py::isinstance<py::type>(value) || PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(value.ptr()),
                                                             reinterpret_cast<PyTypeObject*>(PyExc_BaseException)) != 0)
      continue;
    py::setattr(
        value, "__reduce_ex__",
        py::cpp_function([plain](const py::object& self, int protocol) { return plain(self, std::max(protocol, 2)); },
                         py::is_method(value), py::name("__reduce_ex__")));
  }
}

}  // namespace dma::python

PYBIND11_MODULE(_dma, module) {
  using namespace dma::python;
  module.doc() = "The compiled half of dma.";
  module.attr("__version__") = std::string(dma::version());
  // Translators are asked in the reverse order: the more particular one last.
  py::register_exception<dma::Error>(module, "Error", PyExc_ValueError).attr("__module__") = "dma";
  py::register_exception<dma::Contradiction>(module, "Contradiction", module.attr("Error")).attr("__module__") = "dma";
  bind_kinds(module);
  bind_graph(module);
  bind_results(module);
  bind_draws(module);
  bind_schedules(module);
  bind_run(module);
  bind_solve(module);
  bind_judgements(module);
  bind_series(module);
  bind_models(module);
  module.def("shown", &shown, py::arg("value"));
  bind_table_models(module);
  bind_learner(module);
  give_old_pickles_a_new_protocol(module);
}
