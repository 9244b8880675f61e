#include "tools/python/tables.h"

#include <pybind11/stl.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "engine/support/text.h"

namespace dma::python {

Eigen::MatrixXd matrix_of(const Columns& values, const char* what) {
  if (values.ndim() != 2)
    fail("{}: an array of {} dimensions is given; rows and columns are expected", what, values.ndim());
  return Eigen::Map<const Eigen::MatrixXd>(values.data(), values.shape(0), values.shape(1));
}

Listener::Listener(py::object on_epoch, std::optional<double> max_seconds) : on_epoch_(std::move(on_epoch)) {
  if (!max_seconds) return;
  if (!(*max_seconds > 0 && *max_seconds < 1e9))
    fail("max_seconds: {} is given; a number above 0 and below 1e9 is expected", *max_seconds);
  using namespace std::chrono;
  end_ = steady_clock::now() + duration_cast<steady_clock::duration>(duration<double>(*max_seconds));
}

std::optional<double> Listener::seconds_left() const {
  if (!end_) return {};
  return std::chrono::duration<double>(*end_ - std::chrono::steady_clock::now()).count();
}

bool Listener::hear(std::size_t member, int epoch, double log_likelihood, double seconds) {
  return asks(
      [&] { return on_epoch_.is_none() || !on_epoch_(member, epoch, log_likelihood, seconds).is(py::bool_(false)); });
}

void Listener::watch(TableFit& fit) {
  fit.on_epoch = [this](const TableEpoch& e) {
    return hear(e.member, e.record.epoch, e.record.log_likelihood, e.record.seconds);
  };
  fit.keep_going = [this] { return goes_on(); };
  if (end_) fit.seconds_left = [this] { return *seconds_left(); };
}

bool Listener::goes_on() {
  return asks([] { return true; });
}

bool Listener::asks(const std::function<bool()>& question) {
  const py::gil_scoped_acquire locked;
  try {
    throw_pending_signal();
    return question() && seconds_left().value_or(1) > 0;
  } catch (py::error_already_set& error) {
    error_ = error.value();
    if (error.trace()) PyException_SetTraceback(error_.ptr(), error.trace().ptr());
    return false;
  }
}

namespace {

// Columns of text, or an array of numbers in columns.
void add_columns(MixedTable& table, const py::handle& given) {
  if (py::isinstance<py::list>(given)) {
    table.cells.push_back(given.cast<std::vector<std::string>>());
    return;
  }
  auto values = given.cast<Columns>();
  if (values.ndim() == 1) values = values.reshape({py::ssize_t{-1}, py::ssize_t{1}});
  const Eigen::MatrixXd more = matrix_of(values, "a column");
  table.numbers.middleCols(std::ssize(table.cells), more.cols()) = more;
  table.cells.resize(table.cells.size() + static_cast<std::size_t>(more.cols()));
}

}  // namespace

GivenTable::GivenTable(const std::vector<std::string>& names, const py::object& x,
                       const std::vector<std::string>& its_targets, const py::object& y, const py::object& its_weights)
    : targets(its_targets), has_names(!names.empty()) {
  std::vector<py::object> parts;
  if (py::isinstance<py::list>(x))
    for (const py::handle column : x) parts.push_back(py::reinterpret_borrow<py::object>(column));
  else
    parts.push_back(x);
  const auto count = [](const py::object& part) {
    return py::isinstance<py::list>(part) || py::len(part.attr("shape")) == 1
               ? std::size_t{1}
               : part.attr("shape")[py::int_(1)].cast<std::size_t>();
  };
  std::size_t all = 0;
  for (const py::object& part : parts) all += count(part);
  if (has_names && names.size() != all)
    fail("inputs: {} name{} given for the {} column{} of X; one for each is expected", names.size(),
         names.size() == 1 ? " is" : "s are", all, all == 1 ? "" : "s");
  columns.names = names;
  columns.names.resize(all);
  columns.names.insert(columns.names.end(), targets.begin(), targets.end());
  const std::size_t of_y = y.is_none() ? 0 : count(y);
  if (of_y != targets.size()) fail("y has {} columns, with {} names of targets", of_y, targets.size());
  if (of_y > 0) parts.push_back(y);
  if (!its_weights.is_none()) {
    weights = "sample_weight";
    while (std::ranges::find(columns.names, weights) != columns.names.end()) weights += '\'';
    columns.names.push_back(weights);
    parts.push_back(its_weights);
  }
  columns.numbers.setConstant(static_cast<Eigen::Index>(py::len(parts[0])), std::ssize(columns.names),
                              std::numeric_limits<double>::quiet_NaN());
  for (const py::object& part : parts) add_columns(columns, part);
  const bool has_classes = py::isinstance<py::list>(y);
  for (std::size_t i = 0; i < columns.cells.size(); ++i)
    for (std::string& cell : columns.cells[i]) {
      if (is_plain_text(cell)) continue;
      if (has_classes && i == all)
        fail("the name of a class, '{}', holds control characters; rename it", printable(cell));
      cell = printable(cell);
    }
  columns.lines.resize(columns.rows());
  std::iota(columns.lines.begin(), columns.lines.end(), std::size_t{0});
  request.targets = targets;
  request.weights = weights;
  request.target_cells = has_classes ? TargetCells::names : TargetCells::numbers;
}

std::vector<std::string> names_of_columns(const ModelColumns& model) {
  if (model.coding.empty()) return model.features;
  std::vector<std::string> names;
  for (const ColumnRule& rule : model.coding.rules)
    if (!rule.is_left_out()) names.push_back(rule.name);
  return names;
}

void bind_table(py::module_& module) {
  Class<GivenTable>(module, "Table", "Columns with names: targets, weights of rows, features.")
      .init("names, x, targets=[], y=None, weights=None",
            [](const std::vector<std::string>& names, const py::object& x, const std::vector<std::string>& targets,
               const py::object& y, const py::object& weights) { return GivenTable(names, x, targets, y, weights); });
}

}  // namespace dma::python
