#include "tools/dma/fit/training_cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "engine/support/error.h"
#include "engine/support/text.h"
#include "models/learn/check_rows.h"
#include "models/table/columns/column_types.h"

namespace dma {

namespace {

// Whole numbers from 0 on, each once, as far as twice the rows: the index that pandas writes in front of a table, of
// which rows may be left out or in another order.
bool numbers_the_rows(const TableColumn& column) {
  if (!column.cells.empty()) return false;
  const double end = 2.0 * static_cast<double>(column.numbers.size());
  std::set<double> seen;
  return std::ranges::all_of(
      column.numbers, [&](double n) { return n >= 0 && n < end && n == std::floor(n) && seen.insert(n).second; });
}

bool is_empty(const TableColumn& column) {
  return !column.cells.empty() && std::ranges::all_of(column.cells, [](const auto& cell) { return cell.empty(); });
}

// True if the only target holds names. Numbers in any form are numbers; in a mixture the first cell decides.
bool holds_classes(const MixedTable& table) {
  const std::vector<std::string>& cells = table.cells[0];
  const ColumnRule rule = column_rule(table.column(0), table.has_semicolons);
  if (rule.is(number_column) && rule.strays == 0) return false;
  const std::string column = fmt::format("column '{}'", table.names[0]);
  if (rule.type && !rule.type->kind().unit.empty())
    fail("'{}', {}: {} ('{}') where a number or a class is expected; write a number, such as {}, or give --classes",
         table.path.string(), column, rule.type->kind().cells, printable(cells[0].substr(0, 40)),
         rule.type->kind().unit);
  std::optional<bool> has_names;
  for (std::size_t n = 0; n < cells.size(); ++n) {
    if (is_missing_cell(cells[n])) continue;
    const bool is_name = !number_in(cells[n], rule.decimal_mark());
    if (!has_names) has_names = is_name;
    if (is_name == *has_names) continue;
    const std::string shown = printable(cells[n].substr(0, 40));
    if (is_name && !stands_for_nothing(cells[n]))
      fail("{}, {}: text ('{}') among numbers; correct it, or give --classes if the column holds names of classes",
           table.where(n), column, shown);
    if (!is_name)
      fail(
          "{}, {}: a number ('{}') among classes with names; correct it, or give --classes if it is the name of a "
          "class too",
          table.where(n), column, shown);
  }
  return has_names.value_or(false);
}

// The last of the targets is the weight.
void check_weights(const MixedTable& table, const Eigen::MatrixXd& targets) {
  const auto place = static_cast<std::size_t>(targets.cols()) - 1;
  for (Eigen::Index n = 0; n < targets.rows(); ++n)
    if (const double weight = targets(n, targets.cols() - 1); !(weight >= 0))
      fail("{}, column '{}': the weight of the row is {}; a number of 0 or more is expected",
           table.where(static_cast<std::size_t>(n)), table.names[place],
           std::isnan(weight) ? "missing" : fmt::format("{}", weight));
}

void drop_rows_without_target(MixedTable& table, Eigen::MatrixXd& targets, TrainingData& data) {
  std::vector<Eigen::Index> kept;
  for (Eigen::Index n = 0; n < targets.rows(); ++n)
    if (!targets.row(n).hasNaN()) kept.push_back(n);
  const auto rows = static_cast<std::size_t>(targets.rows());
  if (kept.size() == rows) return;
  if (kept.size() < 2)
    fail("{}{} of {} rows have a value of '{}'; at least two are expected to learn from", told_of(table.path),
         kept.size(), rows, joined(data.targets, "' and '"));
  data.without_target = fmt::format("{} of {} rows are left out: they have no value of '{}'", rows - kept.size(), rows,
                                    joined(data.targets, "' and '"));
  targets = targets(kept, Eigen::all).eval();
  table.keep_rows(kept);
}

// The weights out of the targets; rows of weight 0 are left out.
void take_weights(MixedTable& table, Eigen::MatrixXd& targets, TrainingData& data) {
  const Eigen::Index last = targets.cols() - 1;
  const Eigen::VectorXd weights = targets.col(last);
  check_column_of_weights(table.path, table.names[static_cast<std::size_t>(last)], weights);
  const std::vector<Eigen::Index> kept = rows_that_count(weights);
  if (const auto dropped = weights.size() - std::ssize(kept); dropped > 0) {
    data.notes.push_back(fmt::format("{} of {} rows are left out: their weight is 0", dropped, weights.size()));
    table.keep_rows(kept);
  }
  targets = targets(kept, Eigen::seqN(0, last)).eval();
  data.weights = weights(kept);
}

std::string shown_name(const ColumnRule& rule, std::size_t place) {
  return rule.name.empty() ? fmt::format("column {}", place + 1) : "'" + rule.name + "'";
}

void tell(const ColumnCoding& coding, std::span<const std::size_t> places, TrainingData& data) {
  constexpr std::size_t kFewestGroups = 10;
  std::vector<std::string> coded, left_out, grouping;
  for (std::size_t i = 0; i < coding.rules.size(); ++i) {
    const ColumnRule& rule = coding.rules[i];
    const std::string name = shown_name(rule, places[i]);
    const std::string missing = rule.missing > 0 ? fmt::format("{} cells missing", rule.missing) : "";
    if (rule.levels() > 0 || (rule.is(category_column) && rule.fill.size() >= kFewestGroups)) grouping.push_back(name);
    if (rule.is_left_out())
      left_out.push_back(fmt::format("{} ({})", name, rule.why));
    else if (!rule.is(number_column))
      coded.push_back(fmt::format("{} ({}{}{})", name, rule.type->kind().cells, missing.empty() ? "" : ", ", missing));
    else if (!missing.empty())
      coded.push_back(fmt::format("{} ({}{})", name, missing,
                                  rule.strays > 0 ? fmt::format(", {} of them text", rule.strays) : ""));
  }
  if (!left_out.empty()) data.notes.push_back(fmt::format("columns left out: {}", joined(left_out)));
  if (!coded.empty())
    data.notes.push_back(fmt::format("columns made into numbers: {}; --columns says how", joined(coded)));
  if (!grouping.empty())
    data.notes.push_back(
        fmt::format("rows are grouped by {}: what is said of unseen rows holds within these groups, not for new ones",
                    joined(grouping)));
}

// Every input in memory is a number.
void check_numbers(const MixedTable& table, std::size_t targets) {
  for (std::size_t i = targets; i < table.names.size(); ++i)
    for (std::size_t n = 0; n < table.rows(); ++n)
      if (std::isnan(table.numbers(static_cast<Eigen::Index>(n), static_cast<Eigen::Index>(i))))
        fail("{}, column '{}': a missing cell, or text, where a number is expected; fill in the cell, or drop the row",
             table.where(n), table.names[i]);
}

// Every cell is a number, or a class of the first column.
void check_strictly(const MixedTable& table, const TableSource& source, std::span<const std::size_t> places,
                    bool has_classes) {
  std::vector<std::size_t> texts;
  for (std::size_t i = has_classes ? 1 : 0; i < places.size(); ++i)
    if (table.has_cells(i)) texts.push_back(places[i]);
  if (!texts.empty()) (void)source.open().read(texts);  // says where
  for (std::size_t n = 0; has_classes && n < table.rows(); ++n)
    if (table.is_missing(0, n))
      fail("{}, column '{}': {} where a class is expected; fill in the cell, or delete the row", table.where(n),
           table.names[0],
           table.cells[0][n].empty() ? "an empty cell" : fmt::format("a missing value ('{}')", table.cells[0][n]));
}

[[noreturn]] void refuse_unnamed(const std::filesystem::path& path, std::size_t place) {
  fail("{}column {} has no name; name it{}", told_of(path), place + 1,
       path.empty() ? "" : ", or say which columns to learn from with --features");
}

// The target becomes places among its classes.
void set_classes(const std::vector<std::string>& cells, const std::filesystem::path& path, TrainingData& data,
                 Eigen::Ref<Eigen::VectorXd> places) {
  const ClassLabels labels = ClassLabels::of(cells);
  check_classes(labels, told_of(path, data.targets[0]));
  data.classes = labels.names;
  for (Eigen::Index n = 0; n < places.size(); ++n)
    places(n) = static_cast<double>(labels.of_rows[static_cast<std::size_t>(n)]);
}

// Rules for all columns where one of them is no column of plain numbers; otherwise the numbers are the inputs.
Eigen::MatrixXd coded_inputs(const MixedTable& table, std::span<const std::size_t> places, std::size_t targets,
                             TrainingData& data) {
  const std::size_t all = table.names.size();
  bool is_plain = targets + data.features.size() == all &&
                  !table.numbers.rightCols(static_cast<Eigen::Index>(all - targets)).hasNaN();
  for (std::size_t i = targets; i < all; ++i)
    is_plain = is_plain && !(table.names[i] == kIndexName && numbers_the_rows(table.column(i)));
  if (is_plain) return table.numbers.rightCols(static_cast<Eigen::Index>(all - targets));
  std::vector<TableColumn> columns;
  for (std::size_t i = targets; i < all; ++i) {
    const TableColumn column = table.column(i);
    ColumnRule rule;
    if ((column.name.empty() || column.name == kIndexName) && (is_empty(column) || numbers_the_rows(column)))
      rule = {.name = std::string(column.name),
              .why = is_empty(column) ? "no name and no values" : "it counts the rows"};
    else
      rule = column_rule(column, table.has_semicolons);
    if (!rule.is_left_out()) columns.push_back(column);
    data.coding.rules.push_back(std::move(rule));
  }
  tell(data.coding, places.subspan(targets), data);
  if (columns.empty()) fail("{}there is nothing to learn from: {}", told_of(table.path), data.notes.back());
  data.features = data.coding.columns();
  return data.coding.encode(columns);
}

// Whole numbers of which there are few may be classes.
void hint_at_classes(const Eigen::Ref<const Eigen::VectorXd>& target, TrainingData& data) {
  constexpr std::size_t kMost = 10, kRowsEach = 10;
  std::set<double> values;
  for (const double y : target) {
    values.insert(y);
    if (values.size() > kMost || y != std::round(y)) return;
  }
  if (values.size() < 2 || static_cast<std::size_t>(target.size()) < kRowsEach * values.size()) return;
  data.notes.push_back(fmt::format("'{}' has {} values only ({}): if they are classes, give --classes", data.targets[0],
                                   values.size(), joined(values)));
}

}  // namespace

Eigen::MatrixXd read_cells(const TableRequest& request, const TableSource& source, const TableColumns& columns,
                           TrainingData& data) {
  const bool is_strict = request.strict || request.as_it_is, has_names = request.target_cells == TargetCells::names;
  if (is_strict && !columns.unnamed.empty()) refuse_unnamed(request.path, columns.unnamed[0]);
  std::vector<std::size_t> places = columns.places;
  places.insert(places.end(), columns.unnamed.begin(), columns.unnamed.end());
  MixedTable table = source.read(places, has_names, request.fraction_read);
  if (table.rows() < 2 && !request.as_it_is) return table.numbers;
  for (std::size_t i = columns.places.size(); i < places.size(); ++i)
    if (!numbers_the_rows(table.column(i)) && !is_empty(table.column(i))) refuse_unnamed(request.path, places[i]);
  const std::size_t own_targets = columns.own_targets();
  const bool has_classes = own_targets == 1 && table.has_cells(0) &&
                           (has_names || (request.target_cells == TargetCells::as_they_look && holds_classes(table)));
  if (is_strict && source.is_file()) check_strictly(table, source, places, has_classes);
  if (is_strict && !source.is_file()) check_numbers(table, columns.targets);
  Eigen::MatrixXd targets = Eigen::MatrixXd::Zero(table.numbers.rows(), static_cast<Eigen::Index>(columns.targets));
  for (std::size_t n = 0; has_classes && n < table.rows(); ++n)
    if (table.is_missing(0, n)) targets(static_cast<Eigen::Index>(n), 0) = std::numeric_limits<double>::quiet_NaN();
  for (std::size_t j = has_classes ? 1 : 0; j < columns.targets; ++j)
    targets.col(static_cast<Eigen::Index>(j)) = table.numbers_of(j);
  if (columns.has_weights) check_weights(table, targets);
  drop_rows_without_target(table, targets, data);
  if (columns.has_weights) take_weights(table, targets, data);
  if (has_classes)
    set_classes(table.cells[0], request.path, data, targets.col(0));
  else if (own_targets == 1 && request.target_cells == TargetCells::as_they_look && !is_strict)
    hint_at_classes(targets.col(0), data);
  const Eigen::MatrixXd inputs =
      is_strict ? table.numbers.rightCols(std::ssize(places) - static_cast<Eigen::Index>(columns.targets))
                : coded_inputs(table, places, columns.targets, data);
  data.lines = std::move(table.lines);
  Eigen::MatrixXd values(targets.rows(), targets.cols() + inputs.cols());
  values << targets, inputs;
  return values;
}

}  // namespace dma
