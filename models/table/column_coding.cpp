#include "models/table/column_coding.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

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

using Kind = ColumnRule::Kind;

constexpr std::size_t kMostValues = 30;      // of a text column that have columns of their own
constexpr std::size_t kFewestMarked = 5;     // missing cells from which a column marks them
constexpr std::size_t kNumbersPerStray = 10;  // among as many numbers, one cell of text is a slip
constexpr double kDaysOfYear = 365.2425;

bool is_missing_in(Kind kind, std::string_view cell) {
  return kind == Kind::category ? is_missing_cell(cell) : stands_for_nothing(cell);
}

// What a cell is for a rule: numbers for the columns that the rule makes, or nothing.
enum class Found { value, missing, unseen, stray };

Found write_date(const ColumnRule& rule, double days, double* columns) {
  const auto circle = [&](double turns) {
    *columns++ = std::sin(2 * std::numbers::pi * turns);
    *columns++ = std::cos(2 * std::numbers::pi * turns);
  };
  *columns++ = days - rule.first_day;
  if (rule.season) circle(days / kDaysOfYear);
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
    case Kind::number: {
      auto number = number_in(cell, rule.mark);
      if (!number) number = number_in(cell, rule.mark == '.' ? ',' : '.');
      if (!number) return Found::stray;
      *columns = *number;
      return Found::value;
    }
    case Kind::truth: {
      const auto truth = truth_in(cell);
      if (!truth) return Found::unseen;
      *columns = *truth ? 1 : 0;
      return Found::value;
    }
    case Kind::date: {
      const auto days = days_in(cell, rule.order);
      return days ? write_date(rule, *days, columns) : Found::stray;
    }
    case Kind::category: return write_category(rule, cell, columns);
    case Kind::left_out: break;
  }
  return Found::missing;
}

// Numbers are never text: a column of numbers in the fit may be one of text for a file, and the other way round.
Found write_value(const ColumnRule& rule, const TableColumn& column, std::size_t row, double* columns) {
  if (!column.cells.empty()) return write_cell(rule, column.cells[row], columns);
  const double number = column.numbers[row];
  if (std::isnan(number)) return Found::missing;
  if (rule.kind != Kind::number) return write_cell(rule, fmt::format("{}", number), columns);
  *columns = number;
  return Found::value;
}

struct Counts {
  std::size_t found = 0, missing = 0, strays = 0;
};
template <class Reads>
Counts count(std::span<const std::string> cells, const Reads& reads) {
  Counts counts;
  for (const std::string& cell : cells)
    ++(stands_for_nothing(cell) ? counts.missing : reads(cell) ? counts.found : counts.strays);
  return counts;
}
bool is_most(const Counts& counts) { return counts.found > 0 && counts.strays * kNumbersPerStray <= counts.found; }

bool try_number(ColumnRule& rule, std::span<const std::string> cells, bool has_semicolons) {
  const bool has_comma =
      std::ranges::any_of(cells, [](const std::string& cell) { return cell.find(',') != cell.npos; });
  Counts best;
  const char first = has_semicolons && has_comma ? ',' : '.';
  for (const char mark : {first, first == '.' ? ',' : '.'}) {
    const Counts counts = count(cells, [&](const std::string& cell) { return number_in(cell, mark).has_value(); });
    if (counts.found > best.found) best = counts, rule.mark = mark;
  }
  if (!is_most(best)) return false;
  rule.kind = Kind::number, rule.missing = best.missing + best.strays, rule.strays = best.strays;
  return true;
}

bool try_truth(ColumnRule& rule, std::span<const std::string> cells) {
  const Counts counts = count(cells, [](const std::string& cell) { return truth_in(cell).has_value(); });
  if (counts.found == 0 || counts.strays > 0) return false;
  rule.kind = Kind::truth, rule.missing = counts.missing;
  return true;
}

bool try_date(ColumnRule& rule, std::span<const std::string> cells, bool has_semicolons) {
  Counts best;
  const auto other = has_semicolons ? DateOrder::month_first : DateOrder::day_first;
  for (const DateOrder order :
       {DateOrder::year_first, has_semicolons ? DateOrder::day_first : DateOrder::month_first, other}) {
    const Counts counts = count(cells, [&](const std::string& cell) { return days_in(cell, order).has_value(); });
    if (counts.found > best.found) best = counts, rule.order = order;
  }
  if (!is_most(best)) return false;
  rule.kind = Kind::date, rule.missing = best.missing + best.strays, rule.strays = best.strays;
  double last = -1e300;
  rule.first_day = 1e300;
  std::set<double> days;
  std::set<int> hours;
  for (const std::string& cell : cells)
    if (const auto at = days_in(cell, rule.order); at && !stands_for_nothing(cell)) {
      rule.first_day = std::min(rule.first_day, *at), last = std::max(last, *at);
      if (days.size() < 3) days.insert(std::fmod(std::floor(*at), 7));
      hours.insert(static_cast<int>(24 * (*at - std::floor(*at))));
    }
  rule.season = last - rule.first_day > kDaysOfYear;
  rule.week = last - rule.first_day >= 14 && days.size() >= 3;
  rule.day = hours.size() >= 3;
  return true;
}

// Values of which there are enough rows to learn from have a column; a column most of whose rows have rarer ones tells
// rows apart rather than saying what they are.
void make_category(ColumnRule& rule, std::span<const std::string> cells) {
  std::map<std::string_view, std::size_t> counts;
  std::size_t present = 0;
  for (const std::string& cell : cells) {
    if (is_missing_cell(cell)) continue;
    ++present;
    ++counts[cell];
  }
  rule.kind = Kind::category, rule.missing = cells.size() - present;
  std::vector<std::pair<std::string_view, std::size_t>> sorted(counts.begin(), counts.end());
  std::ranges::stable_sort(sorted, std::ranges::greater{}, [](const auto& value) { return value.second; });
  const std::size_t fewest = std::clamp<std::size_t>(present / 200, 2, 20);
  std::size_t covered = 0;
  for (const auto& [value, times] : sorted) {
    if (times < fewest || rule.values.size() == kMostValues) break;
    rule.values.emplace_back(value);
    covered += times;
  }
  rule.has_rest = covered < present;
  const auto leave_out = [&](std::string why) {
    rule.kind = Kind::left_out, rule.values.clear(), rule.has_rest = false, rule.why = std::move(why);
  };
  if (present == 0)
    leave_out("no cell has a value");
  else if (2 * covered < present)
    leave_out(fmt::format("text with {} values in {} rows", sorted.size(), present));
  else if (sorted.size() == 1 && rule.missing < kFewestMarked)
    leave_out(fmt::format("'{}' in all rows", sorted[0].first));
}

// How many columns of a rule are no mark of missing cells.
std::size_t count_made(const ColumnRule& rule) {
  switch (rule.kind) {
    case Kind::number:
    case Kind::truth: return 1;
    case Kind::date: return 1 + 2 * ((rule.season ? 1 : 0) + (rule.week ? 1u : 0u) + (rule.day ? 1u : 0u));
    case Kind::category: {
      const std::size_t groups = rule.values.size() + (rule.has_rest ? 1 : 0);
      return groups <= 2 ? groups - 1 : groups;  // of two the second is what the first is not
    }
    case Kind::left_out: break;
  }
  return 0;
}

// Means of what is found, without a sum that could overflow.
void fill_with_means(ColumnRule& rule, const TableColumn& column) {
  const std::size_t made = count_made(rule);
  rule.fill.assign(made, 0);
  std::vector<double> one(made);
  double rows = 0;
  for (std::size_t n = 0; n < column.rows(); ++n) {
    const Found found = write_value(rule, column, n, one.data());
    if (found != Found::value && !(found == Found::unseen && rule.has_rest)) continue;
    ++rows;
    for (std::size_t k = 0; k < made; ++k) rule.fill[k] += one[k] / rows - rule.fill[k] / rows;
  }
}

std::string date_text(double days) {
  const std::chrono::year_month_day date{std::chrono::sys_days(std::chrono::days(static_cast<int>(std::floor(days))))};
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                     static_cast<unsigned>(date.day()));
}

}  // namespace

ColumnRule column_rule(const TableColumn& column, bool has_semicolons) {
  ColumnRule rule{.name = std::string(column.name)};
  if (column.cells.empty())
    rule.missing =
        static_cast<std::size_t>(std::ranges::count_if(column.numbers, [](double x) { return std::isnan(x); }));
  else if (!try_number(rule, column.cells, has_semicolons) && !try_truth(rule, column.cells) &&
           !try_date(rule, column.cells, has_semicolons))
    make_category(rule, column.cells);
  if (rule.kind == Kind::number && rule.missing == column.rows())
    rule.kind = Kind::left_out, rule.why = "no cell has a value";
  rule.marks_missing = rule.kind != Kind::left_out && rule.missing >= kFewestMarked;
  fill_with_means(rule, column);
  return rule;
}

std::vector<std::string> ColumnRule::columns() const {
  std::vector<std::string> all;
  switch (kind) {
    case Kind::number:
    case Kind::truth: all = {name}; break;
    case Kind::date:
      all = {name + " (days)"};
      for (const auto& [has, part] : {std::pair(season, "year"), std::pair(week, "week"), std::pair(day, "day")})
        if (has)
          all.insert(all.end(), {fmt::format("{} ({}, sine)", name, part), fmt::format("{} ({}, cosine)", name, part)});
      break;
    case Kind::category:
      for (const std::string& value : values) all.push_back(name + "=" + value);
      if (has_rest) all.push_back(name + " (other)");
      all.resize(count_made(*this));
      break;
    case Kind::left_out: return {};
  }
  if (marks_missing) all.push_back(name + " (missing)");
  return all;
}

std::string ColumnRule::text() const {
  std::string said;
  switch (kind) {
    case Kind::number: said = mark == ',' ? "numbers with a decimal comma" : "numbers"; break;
    case Kind::truth: said = "yes and no as 1 and 0"; break;
    case Kind::date:
      said = fmt::format("dates: days since {}{}{}{}", date_text(first_day), season ? ", time of the year" : "",
                         week ? ", day of the week" : "", day ? ", time of the day" : "");
      break;
    case Kind::category:
      said = fmt::format("text with {} values, {}: {}{}", values.size(),
                         values.size() + (has_rest ? 1 : 0) > 2 ? "a column for each" : "1 for the first",
                         fmt::join(values, ", "), has_rest ? "; the rarer ones together" : "");
      break;
    case Kind::left_out: return "left out: " + why;
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
    if (rule.kind == Kind::left_out) continue;
    const TableColumn& column = table[next++];
    const std::size_t made = rule.fill.size();
    std::vector<double> one(made);
    std::size_t missing = 0, unseen = 0;
    std::string_view example;
    for (std::size_t n = 0; n < rows; ++n) {
      const Found found = write_value(rule, column, n, one.data());
      if (found == Found::stray && where)
        fail("{}, column '{}': text ('{}') where a {} is expected; correct the cell, or leave it empty", where(n),
             rule.name, printable(column.cells[n].substr(0, 40)), rule.kind == Kind::date ? "date" : "number");
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
    expect(rule.kind != Kind::category || !rule.values.empty(), "a column of text has no values");
    expect(rule.fill.size() == count_made(rule), "the means of a column do not fit its rule");
    expect(std::ranges::all_of(rule.fill, [](double x) { return std::isfinite(x); }),
           "a mean of a column is not finite");
  }
  (void)places_of(features);
}

}  // namespace dma
