// What fitting numbers and fitting classes share: matrices, the columns that are learned from, and who listens to a
// fit.
#pragma once

#include <Eigen/Dense>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tools/dma/fit/training_data.h"
#include "tools/python/bindings.h"

namespace dma::python {

// Column after column, as Eigen keeps a matrix.
using Columns = py::array_t<double, py::array::f_style | py::array::forcecast>;
Eigen::MatrixXd matrix_of(const Columns& values, const char* what);
// A matrix as an array that owns it.
py::array_t<double> array_of(Eigen::MatrixXd matrix);

// How a fit ended, beside the model.
struct Outcome {
  std::vector<std::size_t> columns = {};  // of the inputs that were learned from
  std::string ignored = {}, reason = {}, line = {}, warning = {};
  py::object error = py::none();  // that stopped it: Ctrl-C, or what the callback raised
};

// Asked after every epoch whether to go on. What Python raises is kept: a fit that is stopped still has what it
// learned.
class Listener {
 public:
  explicit Listener(py::object on_epoch) : on_epoch_(std::move(on_epoch)) {}

  bool hear(std::size_t member, int epoch, double log_likelihood, double seconds);
  py::object error() const { return error_; }

 private:
  py::object on_epoch_, error_ = py::none();
};

// Names as the reader of a CSV file wants them, and two rows at least; then only the columns that say something.
void check_table(const TrainingData& data);
void leave_out_redundant(TrainingData& data, Outcome& outcome);

// The attributes of an Outcome, for a class derived from it.
void bind_outcome(py::module_& module);

}  // namespace dma::python
