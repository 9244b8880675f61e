// Types of columns, learned from their cells, and the numbers that the cells become.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/support/fields.h"
#include "models/table/column_coding.h"
#include "models/table/columns/column_types.h"

namespace dma {

namespace {

constexpr std::string_view kLeftOut = "left_out";  // in files

// Means of what is found, without a sum that could overflow; the number of values that were not seen.
void fill_with_means(ColumnRule& rule, const TableColumn& column) {
  const std::size_t made = rule.type->columns(rule.name).size();
  rule.fill.assign(made, static_cast<double>(rule.levels()));
  if (rule.levels() > 0) return;
  std::vector<double> one(made);
  double rows = 0;
  for (std::size_t n = 0; n < column.rows(); ++n) {
    const auto found = rule.read(column, n, one.data());
    if (found != CellFound::value && !(found == CellFound::unseen && rule.type->has_rest())) continue;
    ++rows;
    for (std::size_t k = 0; k < made; ++k) rule.fill[k] += one[k] / rows - rule.fill[k] / rows;
  }
}

std::shared_ptr<ColumnType> blank_type(std::string_view name) {
  for (const ColumnKind* kind : kColumnKinds)
    if (kind->name == name) return kind->blank();
  fail("'{}' is no type of column", name);
}

}  // namespace

ColumnRule column_rule(const TableColumn& column, bool has_semicolons) {
  ColumnGuess guess;
  if (column.cells.empty()) {
    guess.missing =
        static_cast<std::size_t>(std::ranges::count_if(column.numbers, [](double x) { return std::isnan(x); }));
    if (guess.missing < column.rows())
      guess.type = number_column.blank();
    else
      guess.why_left_out = "no cell has a value";
  }
  for (const ColumnKind* kind : kColumnKinds)
    if (!guess.type && guess.why_left_out.empty()) guess = kind->guess(column.cells, has_semicolons);
  ColumnRule rule{.name = std::string(column.name),
                  .type = guess.type,
                  .why = guess.why_left_out,
                  .missing = guess.missing,
                  .strays = guess.strays};
  if (rule.is_left_out()) return rule;
  rule.marks_missing = rule.missing >= kFewestMarked;
  fill_with_means(rule, column);
  return rule;
}

bool ColumnRule::is(const ColumnKind& kind) const { return type && &type->kind() == &kind; }
std::size_t ColumnRule::levels() const { return type ? type->levels() : 0; }
char ColumnRule::decimal_mark() const { return type ? type->decimal_mark() : '.'; }

// A column of numbers in the fit may be one of text in a file of new rows, and the other way round.
CellFound ColumnRule::read(const TableColumn& column, std::size_t row, double* made) const {
  std::string written;
  if (column.cells.empty()) {
    const double number = column.numbers[row];
    if (std::isnan(number)) return CellFound::missing;
    if (is(number_column)) return *made = number, CellFound::value;
    written = fmt::format("{}", number);
  }
  const std::string& cell = column.cells.empty() ? written : column.cells[row];
  return type->is_missing(cell) ? CellFound::missing : type->read(cell, made);
}

std::vector<std::string> ColumnRule::columns() const {
  if (is_left_out()) return {};
  std::vector<std::string> all = type->columns(name);
  if (marks_missing) all.push_back(name + " (missing)");
  return all;
}

std::string ColumnRule::text() const {
  if (is_left_out()) return "left out: " + why;
  std::string said = type->text();
  if (missing > 0)
    said +=
        fmt::format("; {} cells missing{}{}{}", missing, strays > 0 ? fmt::format(" ({} of them text)", strays) : "",
                    levels() > 0 ? "" : ", the mean in their place", marks_missing ? ", and marked" : "");
  return said;
}

void list_fields(Fields& f, ColumnRule& value) {
  f("name", value.name);
  std::string kind(value.type ? value.type->kind().name : kLeftOut);
  f("kind", kind);
  f.text("made", value.text());
  if (f.is_reading() && kind != kLeftOut) value.type = blank_type(kind);
  if (value.type) const_cast<ColumnType&>(*value.type).list(f);  // a writing list changes nothing
  DMA_LIST(why, missing, strays, marks_missing, fill);
}

}  // namespace dma
