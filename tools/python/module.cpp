#include <pybind11/eval.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "engine/support/text.h"
#include "tools/dma/help/version.h"
#include "tools/python/bindings.h"

namespace dma::python {

Signature::Signature(const std::string& text) : name_(text.substr(0, text.find('('))), defaults_(py::dict()) {
  if (text.size() < name_.size() + 3) return;  // no arguments
  const py::object taken = py::eval("lambda " + text.substr(name_.size() + 1, text.size() - name_.size() - 2) + ": 0");
  const py::object code = taken.attr("__code__");
  by_place_ = code.attr("co_argcount").cast<std::size_t>();
  arguments_ = code.attr("co_varnames").cast<std::vector<std::string>>();
  arguments_.resize(by_place_ + code.attr("co_kwonlyargcount").cast<std::size_t>());
  if (const py::object by_name = taken.attr("__kwdefaults__"); !by_name.is_none()) defaults_ = by_name;
  if (const py::object last = taken.attr("__defaults__"); !last.is_none())
    for (std::size_t i = by_place_ - py::len(last), k = 0; i < by_place_; ++i, ++k)
      defaults_[arguments_[i].c_str()] = last[py::int_(k)];
}

void Signature::add_to(py::detail::function_record* record) const {
  using namespace py::detail;
  for (std::size_t i = 0; i < arguments_.size(); ++i) {
    if (i == by_place_) process_attribute<py::kw_only>::init({}, record);
    const char* const argument = arguments_[i].c_str();
    if (defaults_.contains(argument))
      process_attribute<py::arg_v>::init(py::arg_v(argument, py::object(defaults_[argument])), record);
    else
      process_attribute<py::arg>::init(py::arg(argument), record);
  }
}

void Signature::check_count(std::size_t taken) const {
  if (taken != arguments_.size())
    py::pybind11_fail(name_ + ": " + std::to_string(arguments_.size()) + " arguments are named, the function takes " +
                      std::to_string(taken));
}

Alone::Alone(Guarded& handle) : handle_(handle) {
  if (handle.is_busy.exchange(true))
    fail("another thread is at work with this {0}; give each thread a {0} of its own", handle.kind);
}

Array numbers_in(py::handle values) {
  const py::array given = py::array::ensure(values);
  if (given && std::string_view("biufO").find(given.dtype().kind()) != std::string_view::npos)
    if (const Array numbers = Array::ensure(given)) return numbers;
  PyErr_Clear();
  return py::reinterpret_steal<Array>(py::handle());
}

KnownValues known_values(py::handle given) {
  const Array values = numbers_in(given);
  if (!values || values.ndim() != 1) fail("values: {} is given; numbers in a row are expected", shown(given));
  KnownValues known;
  for (const double value : span_of(values)) {
    if (std::isinf(value))
      fail("values: an infinite one is given; finite numbers are expected, NaN where one is missing");
    known.push_back(std::isnan(value) ? std::nullopt : std::optional(value));
  }
  return known;
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
  bind_table_models(module);
  bind_models(module);
  def(module, "shown(value)", "", &shown);
  bind_learner(module);
  give_old_pickles_a_new_protocol(module);
}
