#include "tools/dma/fit/training_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/uniform_int_distribution.hpp>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <span>

#include "engine/support/checksum.h"
#include "engine/support/error.h"
#include "engine/support/whole_number.h"
#include "tools/dma/fit/redundant_columns.h"
#include "tools/dma/io/csv.h"

namespace dma {

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

std::vector<std::size_t> all_columns_but(const CsvReader& reader, const std::vector<std::size_t>& targets) {
  const std::set<std::size_t> left_out(targets.begin(), targets.end());
  std::vector<std::size_t> columns;
  for (std::size_t i = 0; i < reader.names().size(); ++i) {
    if (left_out.contains(i)) continue;
    if (reader.names()[i].empty())
      fail("'{}': column {} has no name; name it, or say which columns to learn from with --features",
           reader.path().string(), i + 1);
    columns.push_back(i);
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

void check_not_constant(const CsvReader& reader, const Eigen::MatrixXd& values, const std::vector<std::size_t>& columns,
                        std::size_t targets) {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const auto column = values.col(static_cast<Eigen::Index>(i));
    if (i >= targets || column.minCoeff() < column.maxCoeff()) continue;
    const std::string& name = reader.names()[columns[i]];
    fail("'{}': the target '{}' is {} in all {} rows; there is nothing to learn", reader.path().string(), name,
           column(0), values.rows());
  }
}

// Features that say nothing, or nothing new, are left out.
void leave_out_redundant_columns(const CsvReader& reader, Eigen::MatrixXd& values, std::vector<std::size_t>& columns,
                                 std::size_t targets, std::string& ignored) {
  std::vector<std::string> names;
  for (std::size_t i = targets; i < columns.size(); ++i) names.push_back(reader.names()[columns[i]]);
  const auto first = static_cast<Eigen::Index>(targets);
  const RedundantColumns idle = redundant_columns(values.rightCols(values.cols() - first), names);
  if (idle.text.empty()) return;
  if (idle.kept.empty())
    fail("'{}': every column beside the target is constant; at least one that varies is expected",
         reader.path().string());
  std::vector<std::size_t> left(columns.begin(), columns.begin() + first);
  std::vector<Eigen::Index> kept(targets);
  std::iota(kept.begin(), kept.end(), Eigen::Index{0});
  for (const Eigen::Index column : idle.kept) {
    kept.push_back(first + column);
    left.push_back(columns[static_cast<std::size_t>(first + column)]);
  }
  columns = std::move(left);
  values = values(Eigen::all, kept).eval();
  ignored = idle.text;
}

}  // namespace

TableColumns table_columns(const CsvReader& reader, const std::vector<std::string>& targets,
                           const std::vector<std::string>& features) {
  TableColumns columns{columns_named(reader, targets)};
  columns.targets = columns.places.size();
  const auto inputs = features.empty() ? all_columns_but(reader, columns.places) : columns_named(reader, features);
  if (inputs.empty())
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
  std::vector<Eigen::Index> order(static_cast<std::size_t>(rows));
  std::iota(order.begin(), order.end(), Eigen::Index{0});
  constexpr std::uint64_t kHeldOutRows = 0x9e3779b97f4a7c15;  // its own stream, apart from the seed's other uses
  boost::random::mt19937_64 random(seed ^ kHeldOutRows);
  for (std::size_t i = order.size(); i > order.size() - static_cast<std::size_t>(held_out); --i)
    std::swap(order[i - 1], order[boost::random::uniform_int_distribution<std::size_t>(0, i - 1)(random)]);
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
  std::vector<double> row(static_cast<std::size_t>(inputs.cols() + outputs.cols()));
  const auto add = [&](const Eigen::MatrixXd& x, const Eigen::MatrixXd& y, bool is_held_out) {
    for (Eigen::Index n = 0; n < x.rows(); ++n) {
      Eigen::Map<Eigen::RowVectorXd>(row.data(), x.cols()) = x.row(n);
      Eigen::Map<Eigen::RowVectorXd>(row.data() + x.cols(), y.cols()) = y.row(n);
      sum += fingerprint_of_row(static_cast<std::uint64_t>(n), is_held_out, row);
    }
  };
  add(inputs, outputs, false);
  add(held_out_inputs, held_out_outputs, true);
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

TrainingData read_training_data(const std::filesystem::path& path, const std::vector<std::string>& targets,
                                const std::vector<std::string>& features, double holdout, std::uint64_t seed,
                                bool numbers_are_names, const std::function<void(double)>& fraction_read) {
  if (!(holdout >= 0 && holdout < 1))
    fail("--holdout: {} is given; a fraction of the rows of at least 0 and below 1 is expected", holdout);
  CsvReader reader(path);
  reader.watch(fraction_read);
  auto [columns, target_count] = table_columns(reader, targets, features);
  if (numbers_are_names && target_count > 1)
    fail("--classes: {} targets are given; a classifier has one", target_count);
  CsvReader::ClassColumn classes{columns[0], numbers_are_names};
  Eigen::MatrixXd values = reader.read(columns, CsvReader::Missing::is_error, target_count == 1 ? &classes : nullptr);
  if (values.rows() < 2) fail("'{}' has one row; at least two are expected to learn from", path.string());
  TrainingData data;
  if (!classes.cells.empty()) {
    const ClassLabels labels = ClassLabels::of(classes.cells);
    check_classes(labels, fmt::format("'{}', column '{}'", path.string(), reader.names()[columns[0]]));
    data.classes = labels.names;
    for (Eigen::Index n = 0; n < values.rows(); ++n)
      values(n, 0) = static_cast<double>(labels.of_rows[static_cast<std::size_t>(n)]);
  }
  check_not_constant(reader, values, columns, target_count);

  leave_out_redundant_columns(reader, values, columns, target_count, data.ignored);
  for (std::size_t i = 0; i < columns.size(); ++i)
    (i < target_count ? data.targets : data.features).push_back(reader.names()[columns[i]]);
  const Eigen::Index held_out = count_held_out(holdout, values.rows());
  const auto order = split_rows(values.rows(), held_out, seed);
  const auto first = static_cast<Eigen::Index>(target_count), rest = values.cols() - first;
  const Eigen::Index rows = values.rows() - held_out;
  const std::vector<Eigen::Index> learned(order.begin(), order.begin() + rows), kept(order.begin() + rows, order.end());
  const auto left = Eigen::seqN(0, first), right = Eigen::seqN(first, rest);
  data.outputs = values(learned, left);
  data.inputs = values(learned, right);
  data.held_out_outputs = values(kept, left);
  data.held_out_inputs = values(kept, right);
  if (data.has_classes())
    check_classes(data.labels(),
                  fmt::format("'{}', column '{}', without the rows of --holdout", path.string(), data.targets[0]));
  return data;
}

}  // namespace dma
