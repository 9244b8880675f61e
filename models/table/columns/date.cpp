// Dates and times: days since the first row, and the parts of the calendar that come round more than once.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <numbers>
#include <set>

#include "engine/support/fields.h"
#include "engine/support/usable.h"
#include "models/table/columns/column_types.h"

namespace dma {

namespace {

std::optional<int> take_month_name(std::string_view& text) {
  constexpr std::array<std::string_view, 12> kMonths = {"january",   "february", "march",    "april",
                                                        "may",       "june",     "july",     "august",
                                                        "september", "october",  "november", "december"};
  std::string_view rest = text;
  const std::string word = in_lower_case(take_letters(rest));
  if (word.size() < 3) return {};
  for (std::size_t m = 0; m < kMonths.size(); ++m)
    if (kMonths[m] == word || word == kMonths[m].substr(0, 3) || (word == "sept" && m == 8)) {
      text = rest;
      return static_cast<int>(m) + 1;
    }
  return {};
}

void take_between(std::string_view& text) {
  while (!text.empty() && std::string_view("-/., ").find(text.front()) != std::string_view::npos) text.remove_prefix(1);
}

// Three parts in their order, with something between them.
std::optional<double> take_day(std::string_view& text, DateOrder order) {
  std::array<int, 3> part = {};
  std::array<std::size_t, 3> digits = {};
  std::optional<std::size_t> named;
  for (std::size_t i = 0; i < 3; ++i) {
    if (i > 0) {
      const std::size_t size = text.size();
      take_between(text);
      if (text.size() == size) return {};
    }
    if (const auto month = take_month_name(text)) {
      if (named || i == 2) return {};
      named = i, part[i] = *month;
      continue;
    }
    const std::size_t size = text.size();
    const auto number = take_whole(text, 4);
    if (!number) return {};
    part[i] = *number, digits[i] = size - text.size();
  }
  std::size_t year = order == DateOrder::year_first ? 0 : 2, month = order == DateOrder::month_first ? 0 : 1;
  if (named) year = digits[0] == 4 ? 0 : 2, month = *named;
  const std::size_t day = 3 - year - month;
  if (year == month || digits[day] == 0 || digits[day] > 2 || (!named && digits[month] > 2)) return {};
  if (digits[year] == 2 && year == 2)
    part[year] += part[year] < 70 ? 2000 : 1900;
  else if (digits[year] != 4)
    return {};
  const std::chrono::year_month_day date{std::chrono::year(part[year]),
                                         std::chrono::month(static_cast<unsigned>(part[month])),
                                         std::chrono::day(static_cast<unsigned>(part[day]))};
  if (!date.ok()) return {};
  return static_cast<double>(std::chrono::sys_days(date).time_since_epoch().count());
}

// Its fraction of a day, with what may follow: am, pm, a zone.
std::optional<double> take_time(std::string_view& text) {
  const auto hour = take_whole(text, 2);
  if (!hour || !take_start(text, ":")) return {};
  const auto minute = take_whole(text, 2);
  if (!minute || *hour > 24 || *minute > 59) return {};
  double seconds = 0;
  if (take_start(text, ":")) {
    const auto whole = take_whole(text, 2);
    if (!whole || *whole > 60) return {};
    seconds = *whole;
    if (take_start(text, ".") || take_start(text, ","))
      for (double unit = 0.1; !text.empty() && is_digit(text.front()); unit /= 10, text.remove_prefix(1))
        seconds += unit * (text.front() - '0');
  }
  skip_spaces(text);
  int hours = *hour;
  if (const std::string half = in_lower_case(text.substr(0, 2)); half == "am" || half == "pm") {
    if (hours < 1 || hours > 12) return {};
    hours = hours % 12 + (half == "pm" ? 12 : 0);
    text.remove_prefix(2);
  }
  const bool has_shift =
      !take_start(text, "Z") && !take_start(text, "UTC") && (take_start(text, "+") || take_start(text, "-"));
  if (has_shift) {
    if (!take_whole(text, 2)) return {};
    take_start(text, ":");
    if (!text.empty() && !take_whole(text, 2)) return {};
  }
  return (hours * 3600 + *minute * 60 + seconds) / 86400;
}

}  // namespace

std::optional<double> days_in(std::string_view text, DateOrder order) {
  skip_spaces(text);
  std::string_view rest = text;
  if (const auto time = take_time(rest); time && rest.empty()) return time;
  const auto day = take_day(text, order);
  if (!day) return {};
  if (text.empty()) return day;
  if (!take_start(text, "T") && !take_start(text, " ") && !take_start(text, ", ")) return {};
  skip_spaces(text);
  const auto time = take_time(text);
  if (!time || !text.empty()) return {};
  return *day + *time;
}

namespace {

constexpr double kDaysOfYear = 365.2425;
constexpr std::array<std::string_view, 3> kDateOrders = {"year", "day", "month"};

std::string date_text(double days) {
  const std::chrono::year_month_day date{std::chrono::sys_days(std::chrono::days(static_cast<int>(std::floor(days))))};
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                     static_cast<unsigned>(date.day()));
}

class DateColumn final : public ColumnType {
 public:
  DateColumn() = default;
  DateColumn(std::span<const std::string> cells, DateOrder order) : order_(order) {
    double last = -1e300;
    first_day_ = 1e300;
    std::set<double> days;
    std::set<int> hours;
    for (const std::string& cell : cells)
      if (const auto at = days_in(cell, order); at && !stands_for_nothing(cell)) {
        first_day_ = std::min(first_day_, *at), last = std::max(last, *at);
        if (days.size() < 3) days.insert(std::fmod(std::floor(*at), 7));
        hours.insert(static_cast<int>(24 * (*at - std::floor(*at))));
      }
    season_ = last - first_day_ > kDaysOfYear;
    week_ = last - first_day_ >= 14 && days.size() >= 3;
    day_ = hours.size() >= 3;
  }

  const ColumnKind& kind() const override { return date_column; }
  Found read(std::string_view cell, double* made) const override {
    const auto days = days_in(cell, order_);
    if (!days) return Found::stray;
    const auto circle = [&](double turns) {
      *made++ = std::sin(2 * std::numbers::pi * turns);
      *made++ = std::cos(2 * std::numbers::pi * turns);
    };
    *made++ = *days - first_day_;
    if (season_) circle(*days / kDaysOfYear);
    if (week_) circle(std::floor(*days) / 7);
    if (day_) circle(*days - std::floor(*days));
    return Found::value;
  }
  std::vector<std::string> columns(const std::string& name) const override {
    std::vector<std::string> all = {name + " (days)"};
    for (const auto& [has, part] : {std::pair(season_, "year"), std::pair(week_, "week"), std::pair(day_, "day")})
      if (has)
        all.insert(all.end(), {fmt::format("{} ({}, sine)", name, part), fmt::format("{} ({}, cosine)", name, part)});
    return all;
  }
  std::string text() const override {
    return fmt::format("dates: days since {}{}{}{}", date_text(first_day_), season_ ? ", time of the year" : "",
                       week_ ? ", day of the week" : "", day_ ? ", time of the day" : "");
  }
  void list(Fields& f) override {
    std::string first(kDateOrders[static_cast<std::size_t>(order_)]);
    f("first", first);
    const auto found = std::ranges::find(kDateOrders, first);
    if (found == kDateOrders.end()) fail("'{}' is no first part of a date", first);
    order_ = static_cast<DateOrder>(found - kDateOrders.begin());
    f("first_day", first_day_);
    f("season", season_);
    f("week", week_);
    f("day", day_);
  }
  void check() const override { expect(std::abs(first_day_) < 1e8, "the first day of a column is not usable"); }

 private:
  DateOrder order_ = DateOrder::year_first;
  double first_day_ = 0;
  bool season_ = false, week_ = false, day_ = false;  // sine and cosine of each
};

ColumnGuess guess_dates(std::span<const std::string> cells, bool has_semicolons) {
  using enum DateOrder;
  ColumnGuess best;
  std::size_t most = 0;
  for (const DateOrder order :
       {year_first, has_semicolons ? day_first : month_first, has_semicolons ? month_first : day_first}) {
    const CellCounts counts(cells, [&](const std::string& cell) { return days_in(cell, order).has_value(); });
    if (counts.found <= most) continue;
    most = counts.found;
    best = counts.is_most() ? counts.guess(std::make_shared<DateColumn>(cells, order)) : ColumnGuess();
  }
  return best;
}

}  // namespace

const ColumnKind date_column = {
    .name = "date",
    .cell = "date",
    .cells = "dates",
    .unit = "days",
    .guess = guess_dates,
    .blank = []() -> std::shared_ptr<ColumnType> { return std::make_shared<DateColumn>(); }};

}  // namespace dma
