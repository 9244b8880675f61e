// What a column is, learned from its cells.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "models/table/column_coding.h"

namespace dma {

namespace {

using RuleKind = ColumnRule::Kind;

constexpr std::size_t kMostValues = 30;       // of a text column that have columns of their own
constexpr std::size_t kFewestMarked = 5;      // missing cells from which a column marks them
constexpr std::size_t kNumbersPerStray = 10;  // among as many numbers, one cell of text is a slip

struct Counts {
  std::size_t found = 0, missing = 0, strays = 0;
};
template <class Reads>
Counts count_cells(std::span<const std::string> cells, const Reads& reads) {
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
  char best_mark = first;
  for (const char mark : {first, first == '.' ? ',' : '.'}) {
    const Counts counts =
        count_cells(cells, [&](const std::string& cell) { return number_in(cell, mark).has_value(); });
    if (counts.found > best.found) best = counts, best_mark = mark;
  }
  if (!is_most(best)) return false;
  rule.kind = RuleKind::number, rule.mark = best_mark;
  rule.missing = best.missing + best.strays, rule.strays = best.strays;
  return true;
}

bool try_truth(ColumnRule& rule, std::span<const std::string> cells) {
  const Counts counts = count_cells(cells, [](const std::string& cell) { return truth_in(cell).has_value(); });
  if (counts.found == 0 || counts.strays > 0) return false;
  rule.kind = RuleKind::truth, rule.missing = counts.missing;
  return true;
}

bool try_date(ColumnRule& rule, std::span<const std::string> cells, bool has_semicolons) {
  Counts best;
  const auto other = has_semicolons ? DateOrder::month_first : DateOrder::day_first;
  for (const DateOrder order :
       {DateOrder::year_first, has_semicolons ? DateOrder::day_first : DateOrder::month_first, other}) {
    const Counts counts = count_cells(cells, [&](const std::string& cell) { return days_in(cell, order).has_value(); });
    if (counts.found > best.found) best = counts, rule.order = order;
  }
  if (!is_most(best)) return false;
  rule.kind = RuleKind::date, rule.missing = best.missing + best.strays, rule.strays = best.strays;
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
  rule.season = last - rule.first_day > ColumnRule::kDaysOfYear;
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
  rule.kind = RuleKind::category, rule.missing = cells.size() - present;
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
    rule.kind = RuleKind::left_out, rule.values.clear(), rule.has_rest = false, rule.why = std::move(why);
  };
  if (present == 0)
    leave_out("no cell has a value");
  else if (2 * covered < present)
    leave_out(fmt::format("text with {} values in {} rows", sorted.size(), present));
  else if (sorted.size() == 1 && rule.missing < kFewestMarked)
    leave_out(fmt::format("'{}' in all rows", sorted[0].first));
}

// Means of what is found, without a sum that could overflow.
void fill_with_means(ColumnRule& rule, const TableColumn& column) {
  const std::size_t made = rule.count_made();
  rule.fill.assign(made, 0);
  std::vector<double> one(made);
  double rows = 0;
  for (std::size_t n = 0; n < column.rows(); ++n) {
    const auto found = rule.read(column, n, one.data());
    if (found != ColumnRule::Found::value && !(found == ColumnRule::Found::unseen && rule.has_rest)) continue;
    ++rows;
    for (std::size_t k = 0; k < made; ++k) rule.fill[k] += one[k] / rows - rule.fill[k] / rows;
  }
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
  if (rule.kind == RuleKind::number && rule.missing == column.rows())
    rule.kind = RuleKind::left_out, rule.why = "no cell has a value";
  rule.marks_missing = rule.kind != RuleKind::left_out && rule.missing >= kFewestMarked;
  fill_with_means(rule, column);
  return rule;
}

}  // namespace dma
