#include "tools/dma/fit/mixed_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "engine/support/error.h"
#include "engine/support/text.h"
#include "models/table/columns/column_types.h"
#include "tools/dma/io/read_file.h"

namespace dma {

TableSource::TableSource(std::filesystem::path path) : path_(std::move(path)) {
  std::error_code ignored;
  if (std::filesystem::exists(path_, ignored) && !std::filesystem::is_regular_file(path_, ignored) &&
      !std::filesystem::is_directory(path_, ignored))
    text_ = read_file(path_, "a CSV file");
}

CsvReader TableSource::open() const {
  if (text_) return CsvReader(path_, *text_);
  return CsvReader(path_);
}

TableColumn MixedTable::column(std::size_t i) const {
  return {names[i], std::span(numbers.col(static_cast<Eigen::Index>(i)).data(), rows()), cells[i]};
}

std::string MixedTable::where(std::size_t row) const {
  return lines.empty() ? fmt::format("'{}', row {}", path.string(), row + 1)
                       : fmt::format("'{}', line {}", path.string(), lines[row]);
}

void MixedTable::keep_rows(const std::vector<Eigen::Index>& kept) {
  numbers = numbers(kept, Eigen::all).eval();
  const auto keep = [&](auto& all) {
    if (all.empty()) return;
    for (std::size_t n = 0; n < kept.size(); ++n)
      if (const auto from = static_cast<std::size_t>(kept[n]); from != n) all[n] = std::move(all[from]);
    all.resize(kept.size());
  };
  for (auto& column : cells) keep(column);
  keep(lines);
}

Eigen::VectorXd MixedTable::numbers_of(std::size_t i) const {
  if (!has_cells(i)) return numbers.col(static_cast<Eigen::Index>(i));
  const ColumnRule rule = column_rule(column(i), has_semicolons);
  Eigen::VectorXd values(numbers.rows());
  for (std::size_t n = 0; n < rows(); ++n) {
    const std::string& cell = cells[i][n];
    const auto number = number_in(cell, rule.decimal_mark());
    if (!number && !stands_for_nothing(cell))
      fail("{}, column '{}': text ('{}') where a number is expected; leave such columns out, or code them as numbers",
           where(n), names[i], printable(cell.substr(0, 40)));
    values(static_cast<Eigen::Index>(n)) = number.value_or(std::numeric_limits<double>::quiet_NaN());
  }
  return values;
}

MixedTable read_mixed_table(const TableSource& source, std::span<const std::size_t> places, bool first_as_text,
                            const std::function<void(double)>& fraction_read) {
  CsvReader reader = source.open();
  reader.watch(fraction_read);
  MixedTable table{source.path(), {}, {}, std::vector<std::vector<std::string>>(places.size())};
  for (const std::size_t place : places) table.names.push_back(reader.names()[place]);
  table.has_semicolons = reader.separator() != ',';
  std::vector<bool> has_text;
  table.numbers = reader.read_numbers(places, has_text);
  if (first_as_text) has_text[0] = true;
  std::vector<std::size_t> texts, of;
  for (std::size_t i = 0; i < places.size(); ++i)
    if (has_text[i]) texts.push_back(places[i]), of.push_back(i);
  if (texts.empty()) return table;
  CsvReader again = source.open();
  CsvReader::TextColumns text = again.read_cells(texts);
  if (text.lines.size() != table.rows()) fail("'{}' has changed while it was read; try again", source.path().string());
  for (std::size_t k = 0; k < of.size(); ++k) table.cells[of[k]] = std::move(text.cells[k]);
  table.lines = std::move(text.lines);
  return table;
}

ColumnCoding coding_of_numbers(const std::vector<std::string>& features, const Standardiser& inputs) {
  ColumnCoding coding;
  const Eigen::RowVectorXd centre = inputs.centre();
  for (std::size_t i = 0; i < features.size(); ++i)
    coding.rules.push_back(
        {.name = features[i], .type = number_column.blank(), .fill = {centre(static_cast<Eigen::Index>(i))}});
  return coding;
}

NewRows read_new_rows(const std::filesystem::path& path, const std::filesystem::path& file, const ModelColumns& model,
                      const std::vector<std::string>& targets, const std::string& weights) {
  const bool is_strict = model.coding.empty() && !model.standardises;  // nothing to put for a missing cell
  ColumnCoding coding = model.coding;
  if (is_strict)
    for (const std::string& name : model.features)
      coding.rules.push_back({.name = name, .type = number_column.blank()});
  else if (coding.empty())
    coding = coding_of_numbers(model.features, model.inputs);
  const TableSource source(path);
  CsvReader reader = source.open();
  std::vector<std::size_t> places;
  const auto add = [&](const std::string& name) {
    if (!reader.has(name))
      fail("'{}' has no column '{}', which '{}' was fitted on{}", path.string(), name, file.string(),
           suggestion(name, reader.names()));
    places.push_back(reader.column(name));
  };
  for (const ColumnRule& rule : coding.rules)
    if (!rule.is_left_out()) add(rule.name);
  const std::size_t inputs = places.size();
  for (const std::string& target : targets) add(target);
  if (!weights.empty()) {
    const std::size_t place = reader.column(weights);
    if (std::ranges::find(places, place) != places.end())
      fail("--weights: '{}' is a column that '{}' was fitted on; another one is expected", weights, file.string());
    places.push_back(place);
  }
  NewRows found;
  if (is_strict) {
    const Eigen::MatrixXd all = reader.read(places);
    found.inputs = all.leftCols(static_cast<Eigen::Index>(inputs));
    found.targets = all.middleCols(found.inputs.cols(), static_cast<Eigen::Index>(targets.size()));
    if (!weights.empty()) found.weights = all.rightCols<1>();
    return found;
  }
  MixedTable table = read_mixed_table(source, places);
  std::vector<TableColumn> columns;
  for (std::size_t i = 0; i < inputs; ++i) columns.push_back(table.column(i));
  const Eigen::MatrixXd coded = coding.encode(columns, &found.notes, [&](std::size_t row) { return table.where(row); });
  found.inputs = coded(Eigen::all, coding.places_of(model.features));
  found.targets.resize(table.numbers.rows(), static_cast<Eigen::Index>(targets.size()));
  for (std::size_t j = 0; j < targets.size(); ++j)
    found.targets.col(static_cast<Eigen::Index>(j)) = table.numbers_of(inputs + j);
  if (!weights.empty()) found.weights = table.numbers_of(inputs + targets.size());
  return found;
}

}  // namespace dma
