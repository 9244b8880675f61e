#include "tools/dma/fit/training_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <span>

#include "engine/support/checksum.h"
#include "engine/support/error.h"
#include "engine/support/shuffle.h"
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
    fail("'{}', column '{}': {}", path.string(), column, e.what());
  }
}

namespace {

// A name that holds a comma is taken as it is if there is such a column.
std::vector<std::size_t> columns_named(const CsvReader& reader, const std::vector<std::string>& given) {
  std::vector<std::size_t> columns;
  for (std::string_view list : given) {
    if (reader.has(list)) {
      columns.push_back(reader.column(list));
      continue;
    }
    for (bool more = true; more;) {
      const auto comma = list.find(',');
      columns.push_back(reader.column(list.substr(0, comma)));
      more = comma != list.npos;
      if (more) list.remove_prefix(comma + 1);
    }
  }
  return columns;
}

void check_no_repetition(const CsvReader& reader, const std::vector<std::size_t>& columns, std::size_t targets) {
  std::map<std::size_t, std::size_t> first;
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (const auto [at, is_new] = first.emplace(columns[i], i); !is_new)
      fail("column '{}' is named twice{}; name it once", reader.names()[columns[i]],
           at->second < targets && i >= targets ? ", as a target and as a feature" : "");
}

void check_not_constant(const std::filesystem::path& path, const Eigen::MatrixXd& values,
                        const std::vector<std::string>& targets) {
  for (std::size_t i = 0; i < targets.size(); ++i)
    if (const auto column = values.col(static_cast<Eigen::Index>(i)); !(column.minCoeff() < column.maxCoeff()))
      fail("'{}': the target '{}' is {} in all {} rows; there is nothing to learn", path.string(), targets[i],
           column(0), values.rows());
}

// The weights out of the values; rows of weight 0 are left out.
Eigen::VectorXd take_weights(const TableRequest& request, Eigen::Index column, Eigen::MatrixXd& values,
                             TrainingData& data) {
  Eigen::VectorXd weights = values.col(column);
  check_column_of_weights(request.path, request.weights, weights);
  const std::vector<Eigen::Index> kept = rows_that_count(weights);
  std::vector<Eigen::Index> columns;
  for (Eigen::Index j = 0; j < values.cols(); ++j)
    if (j != column) columns.push_back(j);
  if (const auto dropped = weights.size() - static_cast<Eigen::Index>(kept.size()); dropped > 0)
    data.notes.push_back(fmt::format("{} of {} rows are left out: their weight is 0", dropped, weights.size()));
  values = values(kept, columns).eval();
  return weights(kept);
}

// Features that say nothing, or nothing new, are left out.
void leave_out_redundant_columns(const std::filesystem::path& path, Eigen::MatrixXd& values, TrainingData& data) {
  const auto first = static_cast<Eigen::Index>(data.targets.size());
  const RedundantColumns idle = redundant_columns(values.rightCols(values.cols() - first), data.features);
  if (idle.text.empty()) return;
  if (idle.kept.empty())
    fail("'{}': every column beside the target is constant; at least one that varies is expected", path.string());
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

TableColumns table_columns(const CsvReader& reader, const TableRequest& request) {
  TableColumns columns{columns_named(reader, request.targets)};
  columns.has_weights = !request.weights.empty();
  if (columns.has_weights) columns.places.push_back(reader.column(request.weights));
  columns.targets = columns.places.size();
  std::vector<std::size_t> inputs = columns_named(reader, request.features);
  if (request.features.empty() && !request.as_it_is)
    for (std::size_t i = 0; i < reader.names().size(); ++i)
      if (std::ranges::find(columns.places, i) == columns.places.end())
        (reader.names()[i].empty() ? columns.unnamed : inputs).push_back(i);
  if (inputs.empty() && columns.unnamed.empty() && !request.as_it_is)
    fail("'{}' has no column beside the target; at least one to learn from is expected", reader.path().string());
  columns.places.insert(columns.places.end(), inputs.begin(), inputs.end());
  check_no_repetition(reader, columns.places, columns.targets);
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
  const CsvReader reader = source.open();
  const TableColumns columns = table_columns(reader, request);
  if (request.target_cells == TargetCells::names && columns.own_targets() > 1)
    fail("--classes: {} targets are given; a classifier has one", columns.own_targets());
  TrainingData data;
  for (std::size_t i = 0; i < columns.places.size(); ++i)
    (i < columns.targets ? data.targets : data.features).push_back(reader.names()[columns.places[i]]);
  if (columns.has_weights) data.targets.pop_back();
  Eigen::MatrixXd values = read_cells(request, source, columns, data);
  Eigen::VectorXd weights;
  if (columns.has_weights && values.rows() > 0)
    weights = take_weights(request, static_cast<Eigen::Index>(data.targets.size()), values, data);
  if (values.rows() < 2 && !request.as_it_is)
    fail("'{}' has one row; at least two are expected to learn from", request.path.string());
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
  if (columns.has_weights) data.weights = weights(learned), data.held_out_weights = weights(kept);
  if (data.has_classes())
    check_classes(data.labels(), fmt::format("'{}', column '{}', without rows of --holdout or of weight 0",
                                             request.path.string(), data.targets[0]));
  return data;
}

}  // namespace dma
