#include "tools/dma/fit/mixed_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "engine/support/text.h"
#include "models/table/columns/column_types.h"
#include "tools/dma/io/read_file.h"

namespace dma {

TableColumn MixedTable::column(std::size_t i) const {
  return {names[i], std::span(numbers.col(static_cast<Eigen::Index>(i)).data(), rows()), cells[i]};
}

std::string told_of(const std::filesystem::path& path) {
  return path.empty() ? "" : fmt::format("'{}': ", path.string());
}
std::string told_of(const std::filesystem::path& path, std::string_view column) {
  return path.empty() ? std::string(column) : fmt::format("'{}', column '{}'", path.string(), column);
}

std::string MixedTable::where(std::size_t row) const {
  if (path.empty()) return fmt::format("row {}", lines.empty() ? row : lines[row]);
  return lines.empty() ? fmt::format("'{}', row {}", path.string(), row + 1)
                       : fmt::format("'{}', line {}", path.string(), lines[row]);
}

bool MixedTable::is_missing(std::size_t column, std::size_t row) const {
  return path.empty() ? cells[column][row].empty() : is_missing_cell(cells[column][row]);
}

MixedTable MixedTable::select(std::span<const std::size_t> places) const {
  MixedTable some{path, {}, Eigen::MatrixXd(numbers.rows(), std::ssize(places)), {}, lines, has_semicolons};
  for (const std::size_t place : places) {
    some.numbers.col(std::ssize(some.names)) = numbers.col(static_cast<Eigen::Index>(place));
    some.names.push_back(names[place]);
    some.cells.push_back(cells[place]);
  }
  return some;
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

TableSource::TableSource(std::filesystem::path path) : path_(std::move(path)) {
  std::error_code ignored;
  if (std::filesystem::exists(path_, ignored) && !std::filesystem::is_regular_file(path_, ignored) &&
      !std::filesystem::is_directory(path_, ignored))
    text_ = read_file(path_, "a CSV file");
  names_ = open().names();
}

TableSource::TableSource(MixedTable columns) : columns_(std::move(columns)), names_(columns_->names) {
  std::set<std::string_view> seen;
  for (const std::string& name : names_) {
    if (!is_plain_text(name)) fail("the name of a column, '{}', holds control characters; rename it", printable(name));
    if (!seen.insert(name).second) fail("two columns are named '{}'; give each its own name", name);
  }
}

CsvReader TableSource::open() const {
  if (text_) return CsvReader(path_, *text_);
  return CsvReader(path_);
}

std::string TableSource::name() const { return is_file() ? fmt::format("'{}'", path_.string()) : "X"; }

std::size_t TableSource::column(std::string_view wanted) const {
  const auto found = std::ranges::find(names_, wanted);
  if (found == names_.end()) fail("{} has no column '{}'{}", name(), wanted, suggestion(wanted, names_));
  return static_cast<std::size_t>(found - names_.begin());
}

MixedTable TableSource::read(std::span<const std::size_t> places, bool first_as_text,
                             const std::function<void(double)>& fraction_read) const {
  if (columns_) return columns_->select(places);
  CsvReader reader = open();
  reader.watch(fraction_read);
  MixedTable table{path_, {}, {}, std::vector<std::vector<std::string>>(places.size())};
  for (const std::size_t place : places) table.names.push_back(names_[place]);
  table.has_semicolons = reader.separator() != ',';
  std::vector<bool> has_text;
  table.numbers = reader.read(places, &has_text);
  if (first_as_text) has_text[0] = true;
  std::vector<std::size_t> texts, of;
  for (std::size_t i = 0; i < places.size(); ++i)
    if (has_text[i]) texts.push_back(places[i]), of.push_back(i);
  if (texts.empty()) return table;
  CsvReader::TextColumns text = open().read_cells(texts);
  if (text.lines.size() != table.rows()) fail("{} has changed while it was read; try again", name());
  for (std::size_t k = 0; k < of.size(); ++k) table.cells[of[k]] = std::move(text.cells[k]);
  table.lines = std::move(text.lines);
  return table;
}

MixedTable TableSource::read_text(std::span<const std::size_t> places) const {
  if (columns_) return columns_->select(places);
  CsvReader::TextColumns text = open().read_cells(places);
  MixedTable table{path_, {}, {}, std::move(text.cells), std::move(text.lines)};
  for (const std::size_t place : places) table.names.push_back(names_[place]);
  return table;
}

}  // namespace dma
