#include <string_view>

#include "engine/support/error.h"
#include "tools/dma/version.h"
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

}  // namespace dma::python

PYBIND11_MODULE(_dma, module) {
  using namespace dma::python;
  module.doc() = "The compiled half of dma.";
  module.attr("__version__") = dma::version();
  // Translators are asked in the reverse order: the more particular one last.
  py::register_exception<dma::Error>(module, "Error", PyExc_ValueError).attr("__module__") = "dma";
  py::register_exception<dma::Contradiction>(module, "Contradiction", module.attr("Error")).attr("__module__") = "dma";
  bind_regressor(module);
  bind_classifier(module);
  bind_kinds(module);
  bind_graph(module);
  bind_results(module);
  bind_run(module);
}
