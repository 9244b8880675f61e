// The compiled half of the Python module `dma`: each file binds one subject, module.cpp lists them. What is Python's
// own (scikit-learn's habits, pictures in notebooks) is written in Python, in dma/.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace dma::python {

namespace py = pybind11;

// Array side by side, whatever they were before; nothing is copied that is so already.
using Array = py::array_t<double, py::array::c_style | py::array::forcecast>;

// A vector as an array that owns it: the numbers stay where they are.
inline py::array_t<double> as_array(std::vector<double> values, std::vector<py::ssize_t> shape) {
  auto kept = std::make_unique<std::vector<double>>(std::move(values));
  const double* const first = kept->data();
  py::capsule owner(kept.get(), [](void* pointer) { delete static_cast<std::vector<double>*>(pointer); });
  (void)kept.release();
  return py::array_t<double>(std::move(shape), first, owner);
}
inline py::array_t<double> as_array(std::vector<double> values) {
  const auto size = static_cast<py::ssize_t>(values.size());
  return as_array(std::move(values), {size});
}

inline std::span<const double> span_of(const Array& values) {
  return {values.data(), static_cast<std::size_t>(values.size())};
}

// Other threads go on meanwhile.
template <class Work>
auto without_lock(const Work& work) {
  const py::gil_scoped_release unlocked;
  return work();
}

// Numbers side by side. Empty, without an error, where there are none: text, dates and complex numbers are not turned
// into some.
Array numbers_in(py::handle values);

// As Python writes it, for a sentence: the beginning of what is long.
std::string shown(py::handle object);
// The first lines of a text, 20 at most.
std::string brief(const std::string& text);

// Text as it stands, in a notebook.
std::string html_of(const std::string& text);

// A signal that Python has noticed (Ctrl-C) is thrown as the exception its handler raised.
void throw_pending_signal();

void bind_table_models(py::module_& module);
void bind_kinds(py::module_& module);
void bind_graph(py::module_& module);
void bind_learner(py::module_& module);
void bind_schedules(py::module_& module);
void bind_run(py::module_& module);
void bind_results(py::module_& module);
void bind_draws(py::module_& module);
void bind_solve(py::module_& module);
void bind_judgements(py::module_& module);
void bind_series(py::module_& module);
void bind_models(py::module_& module);

}  // namespace dma::python
