#include "tools/dma/fit/read_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "engine/learn/gaussian/program/row_model.h"
#include "engine/support/text.h"
#include "models/learn/check_rows.h"
#include "models/table/columns/column_types.h"
#include "tools/dma/fit/redundant_columns.h"

namespace dma {

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

// Whole numbers from 0 on, each once, as far as twice the rows: the index that pandas writes in front of a table, of
// which rows may be left out or in another order.
bool numbers_the_rows(const TableColumn& column) {
  if (!column.cells.empty()) return false;
  const double end = 2.0 * static_cast<double>(column.numbers.size());
  std::set<double> seen;
  return std::ranges::all_of(
      column.numbers, [&](double n) { return n >= 0 && n < end && n == std::floor(n) && seen.insert(n).second; });
}

// The reason that a column without a name of its own holds no data; empty: it does.
const char* why_no_data(const TableColumn& column) {
  if (!column.name.empty() && column.name != kIndexName) return "";
  if (!column.cells.empty() && std::ranges::all_of(column.cells, [](const auto& cell) { return cell.empty(); }))
    return "no name and no values";
  return numbers_the_rows(column) ? "it counts the rows" : "";
}

[[noreturn]] void refuse_unnamed(const std::filesystem::path& path, std::size_t place) {
  fail("{}column {} has no name; name it{}", told_of(path), place + 1,
       path.empty() ? "" : ", or say which columns to learn from with --features");
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

// Every cell is a number, or a class of the first column.
void check_strictly(const MixedTable& table, const TableSource& source, const TableColumns& columns, bool has_classes) {
  std::vector<std::size_t> texts;
  for (std::size_t i = has_classes ? 1 : 0; i < columns.places.size(); ++i)
    if (table.has_cells(i)) texts.push_back(columns.places[i]);
  if (source.is_file() && !texts.empty()) (void)source.open().read(texts);  // says where
  for (std::size_t n = 0; source.is_file() && has_classes && n < table.rows(); ++n)
    if (table.is_missing(0, n))
      fail("{}, column '{}': {} where a class is expected; fill in the cell, or delete the row", table.where(n),
           table.names[0],
           table.cells[0][n].empty() ? "an empty cell" : fmt::format("a missing value ('{}')", table.cells[0][n]));
  for (std::size_t i = columns.targets; i < table.names.size(); ++i)
    for (std::size_t n = 0; n < table.rows(); ++n)
      if (std::isnan(table.numbers(static_cast<Eigen::Index>(n), static_cast<Eigen::Index>(i))))
        fail("{}, column '{}': a missing cell, or text, where a number is expected; fill in the cell, or drop the row",
             table.where(n), table.names[i]);
}

void check_signs(const MixedTable& table, std::size_t column, const Eigen::VectorXd& weights) {
  for (Eigen::Index n = 0; n < weights.size(); ++n)
    if (!(weights(n) >= 0))
      fail("{}, column '{}': the weight of the row is {}; a number of 0 or more is expected",
           table.where(static_cast<std::size_t>(n)), table.names[column],
           std::isnan(weights(n)) ? "missing" : fmt::format("{}", weights(n)));
}

// Numbers, or those of classes that are to be named: all 0, NaN where a name is missing.
Eigen::VectorXd target_of(const MixedTable& table, std::size_t column, bool is_class) {
  if (!is_class) return table.numbers_of(column);
  Eigen::VectorXd numbers = Eigen::VectorXd::Zero(table.numbers.rows());
  for (std::size_t n = 0; n < table.rows(); ++n)
    if (table.is_missing(column, n)) numbers(static_cast<Eigen::Index>(n)) = std::numeric_limits<double>::quiet_NaN();
  return numbers;
}

// Targets and weights of the rows that count; the table keeps these rows. At least `fewest` have a target.
void take_targets(MixedTable& table, const TableColumns& columns, bool has_classes, std::size_t fewest,
                  TrainingData& data) {
  const std::size_t own = columns.own_targets();
  data.outputs.resize(table.numbers.rows(), static_cast<Eigen::Index>(own));
  for (std::size_t j = 0; j < own; ++j)
    data.outputs.col(static_cast<Eigen::Index>(j)) = target_of(table, j, has_classes && j == 0);
  if (columns.has_weights) {
    data.weights = table.numbers_of(own);
    check_signs(table, own, data.weights);
  }
  // Returns the note on rows that are left out.
  const auto keep = [&](const std::vector<Eigen::Index>& kept, const std::string& why) {
    const Eigen::Index rows = data.outputs.rows();
    if (std::ssize(kept) == rows) return std::string();
    data.outputs = data.outputs(kept, Eigen::all).eval();
    data.weights = weights_of(data.weights, kept);
    table.keep_rows(kept);
    return fmt::format("{} of {} rows are left out: {}", rows - std::ssize(kept), rows, why);
  };
  std::vector<Eigen::Index> with_target;
  for (Eigen::Index n = 0; n < data.outputs.rows(); ++n)
    if (!data.outputs.row(n).hasNaN()) with_target.push_back(n);
  const std::string names = joined(data.targets, "' and '");
  if (with_target.size() < fewest && std::ssize(with_target) < data.outputs.rows())
    fail("{}{} of {} rows have a value of '{}'; at least {} expected to learn from", told_of(table.path),
         with_target.size(), data.outputs.rows(), names, fewest == 1 ? "one is" : "two are");
  data.without_target = keep(with_target, fmt::format("they have no value of '{}'", names));
  if (!columns.has_weights) return;
  try {
    check_weights(data.weights, data.weights.size());
  } catch (const Error& e) {
    fail("{}: {}", told_of(table.path, table.names[own]), e.what());
  }
  if (std::string note = keep(rows_that_count(data.weights), "their weight is 0"); !note.empty())
    data.notes.push_back(std::move(note));
}

void tell(const ColumnCoding& coding, std::span<const std::size_t> places, TrainingData& data) {
  constexpr std::size_t kFewestGroups = 10;
  std::vector<std::string> coded, left_out, grouping;
  for (std::size_t i = 0; i < coding.rules.size(); ++i) {
    const ColumnRule& rule = coding.rules[i];
    const std::string name = rule.name.empty() ? fmt::format("column {}", places[i] + 1) : "'" + rule.name + "'";
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

// The target becomes places among its classes.
void set_classes(const MixedTable& table, TrainingData& data) {
  const ClassLabels labels = ClassLabels::of(table.cells[0]);
  check_classes(labels, told_of(table.path, data.targets[0]));
  data.classes = labels.names;
  for (Eigen::Index n = 0; n < data.outputs.rows(); ++n)
    data.outputs(n, 0) = static_cast<double>(labels.of_rows[static_cast<std::size_t>(n)]);
}

// Whole numbers of which there are few may be classes.
void hint_at_classes(TrainingData& data) {
  constexpr std::size_t kMost = 10, kRowsEach = 10;
  std::set<double> values;
  for (const double y : data.outputs.col(0)) {
    values.insert(y);
    if (values.size() > kMost || y != std::round(y)) return;
  }
  if (values.size() < 2 || static_cast<std::size_t>(data.outputs.rows()) < kRowsEach * values.size()) return;
  data.notes.push_back(fmt::format("'{}' has {} values only ({}): if they are classes, give --classes", data.targets[0],
                                   values.size(), joined(values)));
}

Eigen::MatrixXd plain_inputs(const MixedTable& table, const TableColumns& columns) {
  return table.numbers.rightCols(table.numbers.cols() - static_cast<Eigen::Index>(columns.targets));
}

// Rules for all columns where one of them is no column of plain numbers; otherwise the numbers are the inputs.
void code_inputs(const MixedTable& table, const TableColumns& columns, TrainingData& data) {
  data.inputs = plain_inputs(table, columns);
  bool is_plain = columns.unnamed.empty() && !data.inputs.hasNaN();
  for (std::size_t i = columns.targets; i < table.names.size(); ++i)
    is_plain = is_plain && *why_no_data(table.column(i)) == '\0';
  if (is_plain) return;
  std::vector<TableColumn> kept;
  for (std::size_t i = columns.targets; i < table.names.size(); ++i) {
    const TableColumn column = table.column(i);
    const char* const why = why_no_data(column);
    data.coding.rules.push_back(*why != '\0' ? ColumnRule{.name = std::string(column.name), .why = why}
                                             : column_rule(column, table.has_semicolons));
    if (!data.coding.rules.back().is_left_out()) kept.push_back(column);
  }
  tell(data.coding, std::span(columns.places).subspan(columns.targets), data);
  if (kept.empty()) fail("{}there is nothing to learn from: {}", told_of(table.path), data.notes.back());
  data.features = data.coding.columns();
  data.inputs = data.coding.encode(kept);
}

void check_not_constant(const std::filesystem::path& path, const TrainingData& data) {
  for (std::size_t i = 0; i < data.targets.size(); ++i)
    if (const auto column = data.outputs.col(static_cast<Eigen::Index>(i)); !(column.minCoeff() < column.maxCoeff()))
      fail("{}the target '{}' is {} in all {} rows; there is nothing to learn", told_of(path), data.targets[i],
           column(0), data.outputs.rows());
}

// Features that say nothing, or nothing new, are left out.
void leave_out_redundant_columns(const std::filesystem::path& path, TrainingData& data) {
  RedundantColumns idle = redundant_columns(data.inputs, data.features);
  if (idle.text.empty()) return;
  if (idle.kept.empty())
    fail("{}every column beside the target is constant; at least one that varies is expected", told_of(path));
  std::vector<std::string> left;
  for (const Eigen::Index column : idle.kept) left.push_back(data.features[static_cast<std::size_t>(column)]);
  data.features = std::move(left);
  data.inputs = data.inputs(Eigen::all, idle.kept).eval();
  data.ignored = std::move(idle.text);
}

bool is_strict(const ModelColumns& model) { return model.coding.empty() && !model.standardises; }

// Rules for columns of plain numbers: their means stand for missing cells, if there is anything to put there.
ColumnCoding coding_of(const ModelColumns& model) {
  if (!model.coding.empty()) return model.coding;
  ColumnCoding coding;
  for (const std::string& name : model.features) coding.rules.push_back({.name = name, .type = number_column.blank()});
  if (is_strict(model)) return coding;
  const Eigen::RowVectorXd centre = model.inputs.centre();
  for (std::size_t i = 0; i < coding.rules.size(); ++i) coding.rules[i].fill = {centre(static_cast<Eigen::Index>(i))};
  return coding;
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

TrainingData read_training_data(const TableRequest& request) {
  return read_training_data(request, TableSource(request.path));
}

TrainingData read_training_data(const TableRequest& request, const TableSource& source) {
  if (!(request.holdout >= 0 && request.holdout < 1))
    fail("--holdout: {} is given; a fraction of the rows of at least 0 and below 1 is expected", request.holdout);
  TableColumns columns = table_columns(source, request);
  const std::size_t own_targets = columns.own_targets();
  const bool is_strict = request.strict || request.as_it_is, has_names = request.target_cells == TargetCells::names,
             as_it_looks = own_targets == 1 && request.target_cells == TargetCells::as_they_look;
  if (has_names && own_targets > 1) fail("--classes: {} targets are given; a classifier has one", own_targets);
  if (is_strict && !columns.unnamed.empty()) refuse_unnamed(request.path, columns.unnamed[0]);
  TrainingData data;
  for (std::size_t i = 0; i < columns.places.size(); ++i)
    if (i < own_targets || i >= columns.targets)
      (i < own_targets ? data.targets : data.features).push_back(source.names()[columns.places[i]]);
  columns.places.insert(columns.places.end(), columns.unnamed.begin(), columns.unnamed.end());
  MixedTable table = source.read(columns.places, has_names, request.fraction_read);
  if (table.rows() < 2 && !request.as_it_is)
    fail("{}the table has one row; at least two are expected to learn from", told_of(request.path));
  for (std::size_t i = 0; i < table.names.size(); ++i)
    if (table.names[i].empty() && *why_no_data(table.column(i)) == '\0')
      refuse_unnamed(request.path, columns.places[i]);
  const bool has_classes =
      own_targets == 1 && table.has_cells(0) && (has_names || (as_it_looks && holds_classes(table)));
  if (is_strict) check_strictly(table, source, columns, has_classes);
  take_targets(table, columns, has_classes, 2, data);
  if (has_classes)
    set_classes(table, data);
  else if (as_it_looks && !is_strict)
    hint_at_classes(data);
  if (is_strict)
    data.inputs = plain_inputs(table, columns);
  else
    code_inputs(table, columns, data);
  data.lines = std::move(table.lines);
  if (!request.as_it_is) {
    if (!has_classes) check_not_constant(request.path, data);
    leave_out_redundant_columns(request.path, data);
  }
  data.hold_out(request.holdout, request.seed);
  if (has_classes && data.held_out_rows() > 0)
    check_classes(data.labels(), told_of(request.path, data.targets[0]) + ", without rows of --holdout");
  return data;
}

TrainingData read_observed(TableRequest request, const TableSource& source, const GraphModel& model) {
  if (!request.features.empty()) fail("--features: the graph says which columns it observes; leave it out");
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

TrainingData read_new_rows(const TableSource& source, const std::string& fitted, const ModelColumns& model,
                           const std::vector<std::string>& targets, const std::string& weights) {
  const ColumnCoding coding = coding_of(model);
  TrainingData data;
  data.features = model.features, data.targets = targets;
  TableColumns columns{.places = {}, .targets = targets.size(), .has_weights = !weights.empty()};
  const auto add = [&](const std::string& name) {
    if (!source.has(name))
      fail("{} has no column '{}', which {} was fitted on{}", source.name(), name, fitted,
           suggestion(name, source.names()));
    if (name == weights)
      fail("--weights: '{}' is a column that {} was fitted on; another one is expected", name, fitted);
    columns.places.push_back(source.column(name));
  };
  for (const std::string& target : targets) add(target);
  if (columns.has_weights) columns.places.push_back(source.column(weights)), ++columns.targets;
  for (const ColumnRule& rule : coding.rules)
    if (!rule.is_left_out()) add(rule.name);
  MixedTable table = source.read(columns.places);
  if (is_strict(model)) check_strictly(table, source, columns, false);
  take_targets(table, columns, false, 1, data);
  if (!data.without_target.empty()) data.notes.push_back(data.without_target);
  data.inputs = plain_inputs(table, columns);
  if (model.coding.empty() && !data.inputs.hasNaN()) return data;
  std::vector<TableColumn> inputs;
  for (std::size_t i = columns.targets; i < table.names.size(); ++i) inputs.push_back(table.column(i));
  const auto where = [&](std::size_t row) { return table.where(row); };
  data.inputs = coding.encode(inputs, &data.notes, where)(Eigen::all, coding.places_of(model.features));
  return data;
}

}  // namespace dma
