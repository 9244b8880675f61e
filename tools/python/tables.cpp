#include "tools/python/tables.h"

#include <pybind11/stl.h>

#include <set>
#include <string_view>

#include "engine/support/error.h"
#include "engine/support/text.h"
#include "tools/dma/fit/redundant_columns.h"

namespace dma::python {

Eigen::MatrixXd matrix_of(const Columns& values, const char* what) {
  if (values.ndim() != 2)
    fail("{}: an array of {} dimensions is given; rows and columns are expected", what, values.ndim());
  return Eigen::Map<const Eigen::MatrixXd>(values.data(), values.shape(0), values.shape(1));
}

py::array_t<double> array_of(Eigen::MatrixXd matrix) {
  auto kept = std::make_unique<Eigen::MatrixXd>(std::move(matrix));
  Eigen::MatrixXd* const pointer = kept.get();
  const py::capsule owner(kept.release(), [](void* p) { delete static_cast<Eigen::MatrixXd*>(p); });
  constexpr auto kStep = static_cast<py::ssize_t>(sizeof(double));
  return py::array_t<double>({pointer->rows(), pointer->cols()}, {kStep, kStep * pointer->rows()}, pointer->data(),
                             owner);
}

bool Listener::hear(std::size_t member, int epoch, double log_likelihood, double seconds) {
  const py::gil_scoped_acquire locked;
  try {
    throw_pending_signal();
    if (!on_epoch_.is_none()) on_epoch_(member, epoch, log_likelihood, seconds);
    return true;
  } catch (py::error_already_set& error) {
    error_ = error.value();
    if (error.trace()) PyException_SetTraceback(error_.ptr(), error.trace().ptr());
    return false;
  }
}

void check_table(const TrainingData& data) {
  if (data.rows() < 2) fail("there is {} row; at least two are expected to learn from", data.rows());
  std::set<std::string_view> seen;
  for (const auto* names : {&data.features, &data.targets})
    for (const std::string& name : *names) {
      if (!is_plain_text(name))
        fail("the name of a column, '{}', holds control characters; rename it", printable(name));
      if (!seen.insert(name).second) fail("two columns are named '{}'; give each its own name", name);
    }
}

void leave_out_redundant(TrainingData& data, Outcome& outcome) {
  const RedundantColumns idle = redundant_columns(data.inputs, data.features);
  if (idle.kept.empty()) fail("every column of the inputs is constant; at least one that varies is expected");
  outcome.ignored = idle.text;
  std::vector<std::string> names;
  for (const Eigen::Index column : idle.kept) {
    outcome.columns.push_back(static_cast<std::size_t>(column));
    names.push_back(data.features[static_cast<std::size_t>(column)]);
  }
  data.features = std::move(names);
  if (!idle.text.empty()) data.inputs = data.inputs(Eigen::all, idle.kept).eval();
}

void bind_outcome(py::module_& module) {
  py::class_<Outcome>(module, "Outcome")
      .def_readonly("columns", &Outcome::columns)
      .def_readonly("ignored", &Outcome::ignored)
      .def_readonly("reason", &Outcome::reason)
      .def_readonly("line", &Outcome::line)
      .def_readonly("warning", &Outcome::warning)
      .def_readonly("error", &Outcome::error);
}

}  // namespace dma::python
