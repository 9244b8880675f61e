#include "tools/dma/fit/training_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <span>

#include "engine/learn/gaussian/program/row_model.h"
#include "engine/support/checksum.h"
#include "engine/support/error.h"
#include "engine/support/shuffle.h"
#include "engine/support/text.h"
#include "engine/support/whole_number.h"
#include "models/learn/check_rows.h"
#include "tools/dma/fit/redundant_columns.h"
#include "tools/dma/fit/training_cells.h"
#include "tools/dma/io/csv.h"

namespace dma {

void check_column_of_weights(const std::filesystem::path& path, const std::string& column,
                             const Eigen::VectorXd& weights) {
  try {
    check_weights(weights, weights.size());
  } catch (const Error& e) {
    fail("{}: {}", told_of(path, column), e.what());
  }
}

namespace {

// A name that holds a comma is taken as it is if there is such a column.
std::vector<std::size_t> columns_named(const TableSource& source, const std::vector<std::string>& given) {
  std::vector<std::size_t> columns;
  for (std::string_view list : given) {
    if (source.has(list)) {
      columns.push_back(source.column(list));
      continue;
    }
    for (bool more = true; more;) {
      const auto comma = list.find(',');
      columns.push_back(source.column(list.substr(0, comma)));
      more = comma != list.npos;
      if (more) list.remove_prefix(comma + 1);
    }
  }
  return columns;
}

void check_no_repetition(const TableSource& source, const std::vector<std::size_t>& columns, std::size_t targets) {
  std::map<std::size_t, std::size_t> first;
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (const auto [at, is_new] = first.emplace(columns[i], i); !is_new)
      fail("column '{}' is named twice{}; name it once", source.names()[columns[i]],
           at->second < targets && i >= targets ? ", as a target and as a feature" : "");
}

void check_not_constant(const std::filesystem::path& path, const Eigen::MatrixXd& values,
                        const std::vector<std::string>& targets) {
  for (std::size_t i = 0; i < targets.size(); ++i)
    if (const auto column = values.col(static_cast<Eigen::Index>(i)); !(column.minCoeff() < column.maxCoeff()))
      fail("{}the target '{}' is {} in all {} rows; there is nothing to learn", told_of(path), targets[i], column(0),
           values.rows());
}

// Features that say nothing, or nothing new, are left out.
void leave_out_redundant_columns(const std::filesystem::path& path, Eigen::MatrixXd& values, TrainingData& data) {
  const auto first = static_cast<Eigen::Index>(data.targets.size());
  const RedundantColumns idle = redundant_columns(values.rightCols(values.cols() - first), data.features);
  if (idle.text.empty()) return;
  if (idle.kept.empty())
    fail("{}every column beside the target is constant; at least one that varies is expected", told_of(path));
  std::vector<std::string> left;
  std::vector<Eigen::Index> kept(data.targets.size());
  std::iota(kept.begin(), kept.end(), Eigen::Index{0});
  for (const Eigen::Index column : idle.kept) {
    kept.push_back(first + column);
    left.push_back(data.features[static_cast<std::size_t>(column)]);
  }
  data.features = std::move(left);
  values = values(Eigen::all, kept).eval();
  data.ignored = idle.text;
}

}  // namespace

TableColumns table_columns(const TableSource& source, const TableRequest& request) {
  TableColumns columns{columns_named(source, request.targets)};
  columns.has_weights = !request.weights.empty();
  if (columns.has_weights) columns.places.push_back(source.column(request.weights));
  columns.targets = columns.places.size();
  std::vector<std::size_t> inputs = columns_named(source, request.features);
  if (request.features.empty() && !request.as_it_is)
    for (std::size_t i = 0; i < source.names().size(); ++i)
      if (std::ranges::find(columns.places, i) == columns.places.end())
        (source.names()[i].empty() ? columns.unnamed : inputs).push_back(i);
  if (inputs.empty() && columns.unnamed.empty() && !request.as_it_is)
    fail("{} has no column beside the target; at least one to learn from is expected", source.name());
  columns.places.insert(columns.places.end(), inputs.begin(), inputs.end());
  check_no_repetition(source, columns.places, columns.targets);
  return columns;
}

Eigen::Index count_held_out(double holdout, Eigen::Index rows) {
  const auto held_out = whole_number<Eigen::Index>(holdout * static_cast<double>(rows) + 0.5, 0, rows);
  return holdout > 0 ? std::clamp<Eigen::Index>(held_out, 1, rows - 1) : held_out;
}

std::vector<Eigen::Index> split_rows(Eigen::Index rows, Eigen::Index held_out, std::uint64_t seed) {
  constexpr std::uint64_t kHeldOutRows = 0x9e3779b97f4a7c15;  // its own stream, apart from the seed's other uses
  std::vector<Eigen::Index> order = random_order(rows, seed ^ kHeldOutRows);
  std::ranges::sort(order.begin(), order.end() - held_out);
  std::ranges::sort(order.end() - held_out, order.end());
  return order;
}

namespace {

ClassLabels labels_of(const std::vector<std::string>& names, const Eigen::MatrixXd& outputs) {
  ClassLabels labels{names, {}};
  for (const double place : outputs.col(0)) labels.of_rows.push_back(static_cast<Eigen::Index>(place));
  return labels;
}

}  // namespace

ClassLabels TrainingData::labels() const { return labels_of(classes, outputs); }
ClassLabels TrainingData::held_out_labels() const { return labels_of(classes, held_out_outputs); }

std::string TrainingData::compute_fingerprint() const {
  std::uint64_t sum = 0;
  const Eigen::Index values = inputs.cols() + outputs.cols();
  std::vector<double> row(static_cast<std::size_t>(values + (weights.size() > 0 ? 1 : 0)));
  const auto add = [&](const Eigen::MatrixXd& x, const Eigen::MatrixXd& y, const Eigen::VectorXd& w, bool is_held_out) {
    for (Eigen::Index n = 0; n < x.rows(); ++n) {
      Eigen::Map<Eigen::RowVectorXd>(row.data(), x.cols()) = x.row(n);
      Eigen::Map<Eigen::RowVectorXd>(row.data() + x.cols(), y.cols()) = y.row(n);
      if (w.size() > 0) row.back() = w(n);
      sum += fingerprint_of_row(static_cast<std::uint64_t>(n), is_held_out, row);
    }
  };
  add(inputs, outputs, weights, false);
  add(held_out_inputs, held_out_outputs, held_out_weights, true);
  return fingerprint_of(static_cast<std::size_t>(inputs.rows()), sum);
}

std::uint64_t TrainingData::fingerprint_of_row(std::uint64_t place, bool is_held_out, std::span<const double> values) {
  Checksum sum;
  const std::uint64_t where[] = {place, is_held_out ? std::uint64_t{1} : std::uint64_t{0}};
  sum.add({reinterpret_cast<const unsigned char*>(where), sizeof where});
  sum.add({reinterpret_cast<const unsigned char*>(values.data()), values.size_bytes()});
  return sum.value();
}

std::string TrainingData::fingerprint_of(std::size_t all_rows, std::uint64_t sum) const {
  Checksum names_too;
  for (const auto* names : {&features, &targets})
    for (const std::string& name : *names) names_too.add(std::string_view(name.c_str(), name.size() + 1));
  names_too.add({reinterpret_cast<const unsigned char*>(&sum), sizeof sum});
  return fmt::format("{}x{}+{}:{:016x}", all_rows, features.size(), targets.size(), names_too.value());
}

TrainingData read_training_data(const TableRequest& request) {
  return read_training_data(request, TableSource(request.path));
}

TrainingData read_training_data(const TableRequest& request, const TableSource& source) {
  if (!(request.holdout >= 0 && request.holdout < 1))
    fail("--holdout: {} is given; a fraction of the rows of at least 0 and below 1 is expected", request.holdout);
  const TableColumns columns = table_columns(source, request);
  if (request.target_cells == TargetCells::names && columns.own_targets() > 1)
    fail("--classes: {} targets are given; a classifier has one", columns.own_targets());
  TrainingData data;
  for (std::size_t i = 0; i < columns.places.size(); ++i)
    (i < columns.targets ? data.targets : data.features).push_back(source.names()[columns.places[i]]);
  if (columns.has_weights) data.targets.pop_back();
  Eigen::MatrixXd values = read_cells(request, source, columns, data);
  if (values.rows() < 2 && !request.as_it_is)
    fail("{}the table has one row; at least two are expected to learn from", told_of(request.path));
  if (!request.as_it_is) {
    if (!data.has_classes()) check_not_constant(request.path, values, data.targets);  // see check_classes below
    leave_out_redundant_columns(request.path, values, data);
  }
  const Eigen::Index held_out = count_held_out(request.holdout, values.rows());
  const auto order = split_rows(values.rows(), held_out, request.seed);
  const auto first = static_cast<Eigen::Index>(data.targets.size()), rest = values.cols() - first;
  const Eigen::Index rows = values.rows() - held_out;
  const std::vector<Eigen::Index> learned(order.begin(), order.begin() + rows), kept(order.begin() + rows, order.end());
  const auto left = Eigen::seqN(0, first), right = Eigen::seqN(first, rest);
  data.outputs = values(learned, left);
  data.inputs = values(learned, right);
  data.held_out_outputs = values(kept, left);
  data.held_out_inputs = values(kept, right);
  data.held_out_weights = weights_of(data.weights, kept);
  data.weights = weights_of(data.weights, learned);
  if (data.has_classes() && held_out > 0)
    check_classes(data.labels(), told_of(request.path, data.targets[0]) + ", without rows of --holdout");
  return data;
}

TrainingData read_observed(TableRequest request, const TableSource& source, const GraphModel& model) {
  request.targets = model.targets(), request.features = model.inputs(), request.as_it_is = true;
  std::vector<std::string> used = model.inputs(), others;
  used.insert(used.end(), model.targets().begin(), model.targets().end());
  for (const std::string& name : used)
    if (!source.has(name))
      fail(
          "{} has no column '{}', which the graph observes{}; rename the column or the variable, or give the "
          "variable a value in the graph",
          source.name(), name, suggestion(name, source.names()));
  for (const std::string& name : source.names())
    if (name != request.weights && std::ranges::find(used, name) == used.end())
      others.push_back(fmt::format("'{}'", name));
  TrainingData data = read_training_data(request, source);
  if (!others.empty())
    data.ignored = fmt::format("the graph observes no variable of the name{} {}: ignored", others.size() > 1 ? "s" : "",
                               joined(others));
  return data;
}

}  // namespace dma
