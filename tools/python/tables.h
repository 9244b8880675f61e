// What fitting numbers and fitting classes share: matrices, the columns that are learned from, and who listens to a
// fit.
#pragma once

#include <Eigen/Dense>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/support/error.h"
#include "tools/dma/fit/learn.h"
#include "tools/python/bindings.h"

namespace dma::python {

// Column after column, as Eigen keeps a matrix.
using Columns = py::array_t<double, py::array::f_style | py::array::forcecast>;
Eigen::MatrixXd matrix_of(const Columns& values, const char* what);
// A matrix as an array that owns it.
py::array_t<double> array_of(Eigen::MatrixXd matrix);

// Asked after every epoch whether to go on. What Python raises is kept: a fit that is stopped still has what it
// learned.
class Listener {
 public:
  explicit Listener(py::object on_epoch, std::optional<double> max_seconds = {});

  bool hear(std::size_t member, int epoch, double log_likelihood, double seconds);
  void watch(TableFit& fit);
  bool goes_on();  // nobody has stopped it, nor is its time over; between epochs
  std::optional<double> seconds_left() const;
  py::object error() const { return error_; }

 private:
  bool asks(const std::function<bool()>& question);  // of Python; no after an exception

  py::object on_epoch_, error_ = py::none();
  std::optional<std::chrono::steady_clock::time_point> end_;
};

// Names as the reader of a CSV file wants them, and two rows at least; then only the columns that say something.
void check_table(const TrainingData& data);
std::vector<std::size_t> leave_out_redundant(TrainingData& data);

// Columns of a frame, each an array of numbers or a list of text, as rules want them; kept while they are used.
class FrameColumns {
 public:
  FrameColumns(std::vector<std::string> names, const py::list& columns);
  std::vector<TableColumn> all() const;
  // Those that the rules want, in their order.
  std::vector<TableColumn> of(const ColumnCoding& coding) const;

 private:
  std::vector<std::string> names_;
  std::vector<Eigen::MatrixXd> numbers_;
  std::vector<std::vector<std::string>> cells_;
};
// The inputs of a model, from the columns of a frame; and what there is to tell of them.
using CodedColumns = std::pair<py::array_t<double>, std::vector<std::string>>;
CodedColumns encode_for(const ModelColumns& model, const FrameColumns& frame);
// Names of the columns of a frame that a model was fitted on.
std::vector<std::string> names_of_columns(const ModelColumns& model);

void bind_coding(py::module_& module);
}  // namespace dma::python
