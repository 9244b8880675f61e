#include "tools/python/tables.h"

#include <pybind11/stl.h>

#include <algorithm>
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
  return asks([&] {
    return on_epoch_.is_none() || !on_epoch_(member, epoch, log_likelihood, seconds).is(py::bool_(false));
  });
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

std::vector<std::size_t> leave_out_redundant(TrainingData& data) {
  const RedundantColumns idle = redundant_columns(data.inputs, data.features);
  if (idle.kept.empty()) fail("every column of the inputs is constant; at least one that varies is expected");
  data.ignored = idle.text;
  std::vector<std::size_t> places;
  std::vector<std::string> names;
  for (const Eigen::Index column : idle.kept) {
    places.push_back(static_cast<std::size_t>(column));
    names.push_back(data.features[static_cast<std::size_t>(column)]);
  }
  data.features = std::move(names);
  if (!idle.text.empty()) data.inputs = data.inputs(Eigen::all, idle.kept).eval();
  return places;
}

FrameColumns::FrameColumns(std::vector<std::string> names, const py::list& columns)
    : names_(std::move(names)), numbers_(names_.size()), cells_(names_.size()) {
  if (columns.size() != names_.size()) fail("{} columns are given, with {} names", columns.size(), names_.size());
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (!py::isinstance<py::list>(columns[i])) {
      numbers_[i] = matrix_of(columns[i].cast<Columns>().reshape({py::ssize_t{-1}, py::ssize_t{1}}), "a column");
      continue;
    }
    for (const py::handle cell : columns[i]) {
      auto text = cell.cast<std::string>();
      cells_[i].push_back(is_plain_text(text) ? std::move(text) : printable(text));
    }
  }
}

std::vector<TableColumn> FrameColumns::all() const {
  std::vector<TableColumn> columns;
  for (std::size_t i = 0; i < names_.size(); ++i)
    columns.push_back(
        {names_[i], std::span(numbers_[i].data(), static_cast<std::size_t>(numbers_[i].size())), cells_[i]});
  return columns;
}

std::vector<TableColumn> FrameColumns::of(const ColumnCoding& coding) const {
  const std::vector<TableColumn> columns = all();
  std::vector<TableColumn> wanted;
  for (const ColumnRule& rule : coding.rules) {
    if (rule.is_left_out()) continue;
    const auto column = std::ranges::find(columns, rule.name, &TableColumn::name);
    if (column == columns.end()) fail("there is no column '{}', which the model was fitted on", rule.name);
    wanted.push_back(*column);
  }
  return wanted;
}

CodedColumns encode_for(const ModelColumns& model, const FrameColumns& frame) {
  if (model.coding.empty() && !model.standardises)
    fail("a cell is missing or no number, and a model that was fitted without standardising has nothing to put there");
  const ColumnCoding coding = model.coding.empty() ? coding_of_numbers(model.features, model.inputs) : model.coding;
  std::vector<std::string> notes;
  const Eigen::MatrixXd coded =
      coding.encode(frame.of(coding), &notes, [](std::size_t row) { return "row " + std::to_string(row); });
  return {array_of(coded(Eigen::all, coding.places_of(model.features))), notes};
}

std::vector<std::string> names_of_columns(const ModelColumns& model) {
  if (model.coding.empty()) return model.features;
  std::vector<std::string> names;
  for (const ColumnRule& rule : model.coding.rules)
    if (!rule.is_left_out()) names.push_back(rule.name);
  return names;
}

void bind_coding(py::module_& module) {
  py::class_<ColumnCoding>(module, "ColumnCoding", "What makes columns of any kind into columns of numbers.")
      .def(py::init<>())
      .def(py::init([](std::vector<std::string> names, const py::list& columns) {
             ColumnCoding coding;
             const FrameColumns frame(std::move(names), columns);
             for (const TableColumn& column : frame.all())
               coding.rules.push_back(column_rule(column, false));
             return coding;
           }),
           py::arg("names"), py::arg("columns"))
      .def_property_readonly("columns", &ColumnCoding::columns)
      .def_property_readonly("lines", &ColumnCoding::lines)
      .def(
          "encode",
          [](const ColumnCoding& self, std::vector<std::string> names, const py::list& columns) {
            const FrameColumns frame(std::move(names), columns);
            return array_of(self.encode(frame.of(self)));
          },
          py::arg("names"), py::arg("columns"));
}

}  // namespace dma::python
