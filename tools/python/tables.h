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
#include "models/table/class_scores.h"
#include "tools/dma/fit/mixed_table.h"
#include "tools/dma/fit/training_data.h"
#include "tools/python/bindings.h"

namespace dma::python {

// Column after column, as Eigen keeps a matrix.
using Columns = py::array_t<double, py::array::f_style | py::array::forcecast>;
Eigen::MatrixXd matrix_of(const Columns& values, const char* what);
// A matrix as an array that owns it.
py::array_t<double> array_of(Eigen::MatrixXd matrix);

py::dict dict_of(const ClassScores& scores);

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
  explicit Listener(py::object on_epoch, std::optional<double> max_seconds = {});

  bool hear(std::size_t member, int epoch, double log_likelihood, double seconds);
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
void leave_out_redundant(TrainingData& data, Outcome& outcome);

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
template <class Saved>
CodedColumns encode_for(const Saved& saved, const FrameColumns& frame) {
  if (saved.coding.empty() && !saved.options.standardise)
    fail("a cell is missing or no number, and a model that was fitted without standardising has nothing to put there");
  const ColumnCoding coding =
      saved.coding.empty() ? coding_of_numbers(saved.features, saved.memory.inputs) : saved.coding;
  std::vector<std::string> notes;
  const Eigen::MatrixXd coded =
      coding.encode(frame.of(coding), &notes, [](std::size_t row) { return "row " + std::to_string(row); });
  return {array_of(coded(Eigen::all, coding.places_of(saved.features))), notes};
}
// Names of the columns of a frame that a model was fitted on.
template <class Saved>
std::vector<std::string> names_of_columns(const Saved& saved) {
  if (saved.coding.empty()) return saved.features;
  std::vector<std::string> names;
  for (const ColumnRule& rule : saved.coding.rules)
    if (rule.kind != ColumnRule::Kind::left_out) names.push_back(rule.name);
  return names;
}

void bind_coding(py::module_& module);
// The attributes of an Outcome, for a class derived from it.
void bind_outcome(py::module_& module);

}  // namespace dma::python
