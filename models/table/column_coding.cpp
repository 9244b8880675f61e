#include "models/table/column_coding.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "engine/support/text.h"
#include "engine/support/usable.h"
#include "models/table/columns/column_types.h"

namespace dma {

std::vector<std::string> ColumnCoding::columns() const {
  std::vector<std::string> all;
  std::set<std::string> taken;
  for (const ColumnRule& rule : rules)
    for (std::string& name : rule.columns()) {
      while (!taken.insert(name).second) name += '\'';
      all.push_back(std::move(name));
    }
  return all;
}

namespace {

std::string told(const ColumnRule& rule, std::size_t missing, std::size_t unseen, std::string_view example) {
  if (unseen > 0)
    return fmt::format("'{}': {} that the fit did not have{} ('{}'{}); {}", printable(rule.name),
                       unseen == 1 ? "a value" : fmt::format("values in {} rows", unseen),
                       rule.type->has_rest() ? " or had rarely" : "", printable(example), unseen == 1 ? "" : ", ...",
                       rule.type->has_rest() ? "taken for one of the rare values" : "the other columns decide");
  return fmt::format("'{}': {} missing, where the fit had {}; the other columns decide", printable(rule.name),
                     missing == 1 ? "a cell is" : fmt::format("{} cells are", missing),
                     rule.missing == 0 ? "none" : "too few to learn from");
}

}  // namespace

Eigen::MatrixXd ColumnCoding::encode(std::span<const TableColumn> table, std::vector<std::string>* notes,
                                     const std::function<std::string(std::size_t row)>& where) const {
  using Found = CellFound;
  const std::size_t rows = table.empty() ? 0 : table[0].rows();
  Eigen::MatrixXd coded(static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(columns().size()));
  Eigen::Index first = 0;
  std::size_t next = 0;
  for (const ColumnRule& rule : rules) {
    if (rule.is_left_out()) continue;
    const TableColumn& column = table[next++];
    const std::size_t made = rule.fill.size();
    std::vector<double> one(made);
    std::size_t missing = 0, unseen = 0;
    std::string_view example;
    for (std::size_t n = 0; n < rows; ++n) {
      const Found found = rule.read(column, n, one.data());
      if (found == Found::stray && where && rule.strays == 0)
        fail("{}, column '{}': text ('{}') where a {} is expected; correct the cell, or leave it empty", where(n),
             rule.name, printable(column.cells[n].substr(0, 40)), rule.type->kind().cell);
      const bool is_missing = found == Found::missing || found == Found::stray;
      if (found == Found::unseen && unseen++ == 0 && !column.cells.empty()) example = column.cells[n];
      if (is_missing) ++missing;
      if (is_missing || (found == Found::unseen && !rule.type->has_rest())) one = rule.fill;
      const auto row = static_cast<Eigen::Index>(n);
      for (std::size_t k = 0; k < made; ++k) coded(row, first + static_cast<Eigen::Index>(k)) = one[k];
      if (rule.marks_missing) coded(row, first + static_cast<Eigen::Index>(made)) = is_missing ? 1 : 0;
    }
    if (notes != nullptr && (unseen > 0 || (missing > 0 && !rule.marks_missing)))
      notes->push_back(told(rule, missing, unseen, example));
    first += static_cast<Eigen::Index>(made + (rule.marks_missing ? 1 : 0));
  }
  return coded;
}

std::vector<std::string> ColumnCoding::lines() const {
  std::vector<std::string> all;
  for (const ColumnRule& rule : rules)
    all.push_back(fmt::format("{}: {}", rule.name.empty() ? "without a name" : printable(rule.name), rule.text()));
  return all;
}

std::vector<Eigen::Index> ColumnCoding::places_of(const std::vector<std::string>& features) const {
  std::map<std::string, Eigen::Index, std::less<>> places;
  for (std::string& name : columns()) places.emplace(std::move(name), static_cast<Eigen::Index>(places.size()));
  std::vector<Eigen::Index> found;
  for (const std::string& feature : features) {
    const auto place = places.find(feature);
    if (place == places.end()) fail("no column of the table makes the feature '{}'", feature);
    found.push_back(place->second);
  }
  return found;
}

std::vector<std::size_t> ColumnCoding::levels(const std::vector<std::string>& features) const {
  std::vector<std::size_t> of_columns, all;
  for (const ColumnRule& rule : rules) {
    of_columns.resize(of_columns.size() + rule.columns().size());
    if (rule.levels() > 0) of_columns[of_columns.size() - rule.columns().size()] = rule.levels();
  }
  for (const Eigen::Index place : places_of(features)) all.push_back(of_columns[static_cast<std::size_t>(place)]);
  if (std::ranges::count(all, 0) == std::ssize(all)) all.clear();
  return all;
}

void ColumnCoding::check(const std::vector<std::string>& features) const {
  if (empty()) return;
  for (const ColumnRule& rule : rules) {
    expect(is_plain_text(rule.name) && is_plain_text(rule.why), "the name of a column holds control characters");
    if (rule.type) rule.type->check();
    expect(rule.fill.size() == (rule.type ? rule.type->columns(rule.name).size() : 0),
           "the means of a column do not fit its rule");
    expect(std::ranges::all_of(rule.fill, [](double x) { return std::isfinite(x); }),
           "a mean of a column is not finite");
  }
  (void)places_of(features);
}

}  // namespace dma
