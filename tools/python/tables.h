// Code that fitting numbers and fitting classes share: matrices, columns of a user, and listeners to a fit.
#pragma once

#include <Eigen/Dense>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/support/text.h"
#include "models/predict/settings.h"
#include "tools/dma/fit/learn.h"
#include "tools/python/bindings.h"

namespace dma::python {

// Column after column, as Eigen keeps a matrix.
using Columns = py::array_t<double, py::array::f_style | py::array::forcecast>;
Eigen::MatrixXd matrix_of(const Columns& values, const char* what);
// Says after every epoch whether the fit goes on. An error that Python raises is kept, because a fit that is stopped
// still has what it learned.
class Listener {
 public:
  explicit Listener(py::object on_epoch, std::optional<double> max_seconds = {});

  bool hear(std::size_t member, int epoch, double log_likelihood, double seconds);
  void watch(TableFit& fit);
  bool goes_on();  // false if it was stopped or its time is over; between epochs
  std::optional<double> seconds_left() const;
  py::object error() const { return error_; }

 private:
  bool asks(const std::function<bool()>& question);  // asks Python; false after an exception

  py::object on_epoch_, error_ = py::none();
  std::optional<std::chrono::steady_clock::time_point> end_;
};

// Columns of a user, named, as the code that reads files has them: features, targets, and perhaps the weights of rows.
struct GivenTable {
  // X: an array, or a list of columns, each an array of numbers or a list of text; without names they stand in an order
  // that a graph knows. y: an array, or a list of the names of classes, "" for none.
  GivenTable(const std::vector<std::string>& names, const py::object& x, const std::vector<std::string>& targets,
             const py::object& y, const py::object& weights);

  MixedTable columns;
  std::vector<std::string> targets;
  std::string weights;  // name of the column; empty: there is none
  bool has_names = true;
  TableRequest request = {};  // to learn from them
};
// Names of the columns of a frame that a model was fitted on.
std::vector<std::string> names_of_columns(const ModelColumns& model);

// Parameters of an estimator, given by name, as the typed settings of the library. A value of another type is an Error
// that names the parameter.
FitSettings fit_settings(const py::dict& parameters);
GraphModelOptions graph_options(const py::dict& parameters);

void bind_table(py::module_& module);
}  // namespace dma::python
