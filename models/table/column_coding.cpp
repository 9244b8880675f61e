#include "models/table/column_coding.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <numbers>
#include <set>

#include "engine/support/error.h"
#include "engine/support/text.h"

namespace dma {

namespace {

using RuleKind = ColumnRule::Kind;

bool is_missing_in(RuleKind kind, std::string_view cell) {
  return kind == RuleKind::category ? is_missing_cell(cell) : stands_for_nothing(cell);
}

using Found = ColumnRule::Found;

Found write_date(const ColumnRule& rule, double days, double* columns) {
  const auto circle = [&](double turns) {
    *columns++ = std::sin(2 * std::numbers::pi * turns);
    *columns++ = std::cos(2 * std::numbers::pi * turns);
  };
  *columns++ = days - rule.first_day;
  if (rule.season) circle(days / ColumnRule::kDaysOfYear);
  if (rule.week) circle(std::floor(days) / 7);
  if (rule.day) circle(days - std::floor(days));
  return Found::value;
}

Found write_category(const ColumnRule& rule, std::string_view cell, double* columns) {
  const std::size_t groups = rule.values.size() + (rule.has_rest ? 1 : 0), made = rule.fill.size();
  const auto at = static_cast<std::size_t>(std::ranges::find(rule.values, cell) - rule.values.begin());
  if (at == groups) return Found::unseen;
  for (std::size_t k = 0; k < made; ++k) columns[k] = k == at ? 1 : 0;
  return at == rule.values.size() ? Found::unseen : Found::value;
}

Found write_cell(const ColumnRule& rule, std::string_view cell, double* columns) {
  if (is_missing_in(rule.kind, cell)) return Found::missing;
  switch (rule.kind) {
    case RuleKind::number: {
      auto number = number_in(cell, rule.mark);
      if (!number) number = number_in(cell, rule.mark == '.' ? ',' : '.');
      if (!number) return Found::stray;
      *columns = *number;
      return Found::value;
    }
    case RuleKind::truth: {
      const auto truth = truth_in(cell);
      if (!truth) return Found::unseen;
      *columns = *truth ? 1 : 0;
      return Found::value;
    }
    case RuleKind::date: {
      const auto days = days_in(cell, rule.order);
      return days ? write_date(rule, *days, columns) : Found::stray;
    }
    case RuleKind::category: return write_category(rule, cell, columns);
    case RuleKind::left_out: break;
  }
  return Found::missing;
}

std::string date_text(double days) {
  const std::chrono::year_month_day date{std::chrono::sys_days(std::chrono::days(static_cast<int>(std::floor(days))))};
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                     static_cast<unsigned>(date.day()));
}

}  // namespace

// A column of numbers in the fit may be one of text in a file of new rows, and the other way round.
Found ColumnRule::read(const TableColumn& column, std::size_t row, double* made) const {
  if (!column.cells.empty()) return write_cell(*this, column.cells[row], made);
  const double number = column.numbers[row];
  if (std::isnan(number)) return Found::missing;
  if (kind != RuleKind::number) return write_cell(*this, fmt::format("{}", number), made);
  *made = number;
  return Found::value;
}

std::size_t ColumnRule::count_made() const {
  switch (kind) {
    case RuleKind::number:
    case RuleKind::truth: return 1;
    case RuleKind::date: return 1 + 2 * ((season ? 1 : 0) + (week ? 1u : 0u) + (day ? 1u : 0u));
    case RuleKind::category: {
      const std::size_t groups = values.size() + (has_rest ? 1 : 0);
      return groups <= 2 ? groups - 1 : groups;  // of two the second is what the first is not
    }
    case RuleKind::left_out: break;
  }
  return 0;
}

std::vector<std::string> ColumnRule::columns() const {
  std::vector<std::string> all;
  switch (kind) {
    case RuleKind::number:
    case RuleKind::truth: all = {name}; break;
    case RuleKind::date:
      all = {name + " (days)"};
      for (const auto& [has, part] : {std::pair(season, "year"), std::pair(week, "week"), std::pair(day, "day")})
        if (has)
          all.insert(all.end(), {fmt::format("{} ({}, sine)", name, part), fmt::format("{} ({}, cosine)", name, part)});
      break;
    case RuleKind::category:
      for (const std::string& value : values) all.push_back(name + "=" + value);
      if (has_rest) all.push_back(name + " (other)");
      all.resize(count_made());
      break;
    case RuleKind::left_out: return {};
  }
  if (marks_missing) all.push_back(name + " (missing)");
  return all;
}

std::string ColumnRule::text() const {
  std::string said;
  switch (kind) {
    case RuleKind::number: said = mark == ',' ? "numbers with a decimal comma" : "numbers"; break;
    case RuleKind::truth: said = "yes and no as 1 and 0"; break;
    case RuleKind::date:
      said = fmt::format("dates: days since {}{}{}{}", date_text(first_day), season ? ", time of the year" : "",
                         week ? ", day of the week" : "", day ? ", time of the day" : "");
      break;
    case RuleKind::category:
      said = fmt::format("text with {} values, {}: {}{}", values.size(),
                         values.size() + (has_rest ? 1 : 0) > 2 ? "a column for each" : "1 for the first",
                         joined(values), has_rest ? "; the rarer ones together" : "");
      break;
    case RuleKind::left_out: return "left out: " + why;
  }
  if (missing > 0)
    said += fmt::format("; {} cells missing{}, {}{}", missing,
                        strays > 0 ? fmt::format(" ({} of them text)", strays) : "", "the mean in their place",
                        marks_missing ? ", and marked" : "");
  return said;
}

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
                       rule.has_rest ? " or had rarely" : "", printable(example), unseen == 1 ? "" : ", ...",
                       rule.has_rest ? "taken for one of the rare values" : "the other columns decide");
  return fmt::format("'{}': {} missing, where the fit had {}; the other columns decide", printable(rule.name),
                     missing == 1 ? "a cell is" : fmt::format("{} cells are", missing),
                     rule.missing == 0 ? "none" : "too few to learn from");
}

}  // namespace

Eigen::MatrixXd ColumnCoding::encode(std::span<const TableColumn> table, std::vector<std::string>* notes,
                                     const std::function<std::string(std::size_t row)>& where) const {
  const std::size_t rows = table.empty() ? 0 : table[0].rows();
  Eigen::MatrixXd coded(static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(columns().size()));
  Eigen::Index first = 0;
  std::size_t next = 0;
  for (const ColumnRule& rule : rules) {
    if (rule.kind == RuleKind::left_out) continue;
    const TableColumn& column = table[next++];
    const std::size_t made = rule.fill.size();
    std::vector<double> one(made);
    std::size_t missing = 0, unseen = 0;
    std::string_view example;
    for (std::size_t n = 0; n < rows; ++n) {
      const Found found = rule.read(column, n, one.data());
      if (found == Found::stray && where && rule.strays == 0)
        fail("{}, column '{}': text ('{}') where a {} is expected; correct the cell, or leave it empty", where(n),
             rule.name, printable(column.cells[n].substr(0, 40)), rule.kind == RuleKind::date ? "date" : "number");
      const bool is_missing = found == Found::missing || found == Found::stray;
      if (found == Found::unseen && unseen++ == 0 && !column.cells.empty()) example = column.cells[n];
      if (is_missing) ++missing;
      if (is_missing || (found == Found::unseen && !rule.has_rest)) one = rule.fill;
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

void ColumnCoding::check(const std::vector<std::string>& features) const {
  if (empty()) return;
  const auto expect = [](bool holds, const char* what) {
    if (!holds) fail("{}", what);
  };
  for (const ColumnRule& rule : rules) {
    expect(is_plain_text(rule.name) && is_plain_text(rule.why), "the name of a column holds control characters");
    for (const std::string& value : rule.values)
      expect(is_plain_text(value), "a value of a column holds control characters");
    expect(rule.mark == '.' || rule.mark == ',', "the decimal mark of a column is neither point nor comma");
    expect(std::abs(rule.first_day) < 1e8, "the first day of a column is not usable");
    expect(rule.kind != RuleKind::category || !rule.values.empty(), "a column of text has no values");
    expect(rule.fill.size() == rule.count_made(), "the means of a column do not fit its rule");
    expect(std::ranges::all_of(rule.fill, [](double x) { return std::isfinite(x); }),
           "a mean of a column is not finite");
  }
  (void)places_of(features);
}

}  // namespace dma
