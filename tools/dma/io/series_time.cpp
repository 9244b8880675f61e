#include "tools/dma/io/series_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <numeric>

#include "engine/support/text.h"
#include "tools/dma/io/csv_text.h"

namespace dma {

namespace {

constexpr int kLastDay = 32;
constexpr std::int64_t kSecondsADay = 86400;
constexpr std::size_t kMostGaps = 20;  // steps a row: beyond, the common step of the times is an accident

using Calendar = std::chrono::year_month_day;

struct Date {
  int year = 0;
  unsigned month = 1;
  std::optional<unsigned> day;
  std::optional<std::int64_t> second;  // second of the day

  std::int64_t months() const { return 12 * static_cast<std::int64_t>(year) + month - 1; }
  std::int64_t days() const {
    const Calendar date{std::chrono::year(year), std::chrono::month(month), std::chrono::day(day.value_or(1))};
    return std::chrono::sys_days(date).time_since_epoch().count();
  }
  std::int64_t seconds() const { return kSecondsADay * days() + second.value_or(0); }
  bool is_last_day() const {
    const auto last = std::chrono::year(year) / std::chrono::month(month) / std::chrono::last;
    return day && *day == static_cast<unsigned>(last.day());
  }
};

// A number of exactly so many digits at the front of the text, which is shortened by it.
std::optional<unsigned> digits(std::string_view& text, std::size_t count) {
  unsigned value = 0;
  if (text.size() < count || !std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(count),
                                          [](char c) { return c >= '0' && c <= '9'; }))
    return {};
  std::from_chars(text.data(), text.data() + count, value);
  text.remove_prefix(count);
  return value;
}

bool take(std::string_view& text, std::string_view any) {
  if (text.empty() || any.find(text.front()) == any.npos) return false;
  text.remove_prefix(1);
  return true;
}

std::optional<Date> parsed(std::string_view text) {
  text = trimmed(text);
  Date date;
  const auto year = digits(text, 4);
  if (!year || !take(text, "-/")) return {};
  const auto month = digits(text, 2);
  if (!month || *month < 1 || *month > 12) return {};
  date.year = static_cast<int>(*year), date.month = *month;
  if (text.empty()) return date;
  if (!take(text, "-/") || !(date.day = digits(text, 2))) return {};
  if (!Calendar(std::chrono::year(date.year), std::chrono::month(date.month), std::chrono::day(*date.day)).ok())
    return {};
  if (text.empty()) return date;
  if (!take(text, "T ")) return {};
  std::int64_t second = 0, unit = 3600;
  for (const unsigned most : {24u, 60u, 60u}) {
    const auto part = digits(text, 2);
    if (!part || *part >= most) return {};
    second += unit * *part, unit /= 60;
    if (!take(text, ":")) break;
  }
  if (unit == 60) return {};  // an hour without minutes
  if (take(text, ".,"))
    while (!text.empty() && digits(text, 1)) {
    }
  (void)take(text, "Z");
  date.second = second;
  return text.empty() ? std::optional(date) : std::nullopt;
}

std::string written(std::int64_t days) {
  const Calendar date{std::chrono::sys_days(std::chrono::days(days))};
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                     static_cast<unsigned>(date.day()));
}

constexpr double kMostMissing = 1e6;  // steps without a row: each of them is solved for

// Checks a row that is `after` steps after the one before; so far `missing` steps have no row.
void check_gap(const std::string& where, std::size_t row, const std::string& time, double after, double missing,
               const std::string& step) {
  if (!(missing <= kMostMissing))  // nan, where times are further apart than the largest double
    fail(
        "{}, row {}: the time {} is {:.9g} steps of {} after the row before, which leaves {:.9g} steps without a "
        "row, more than {:.0f}; round the times to coarser steps, delete the row, or take another column of times "
        "(--time)",
        where, row, time, after, step, missing, kMostMissing);
}

}  // namespace

bool is_date(std::string_view cell) { return parsed(cell).has_value(); }

SeriesTime SeriesTime::of_dates(const std::string& where, std::span<const std::string> cells,
                                std::vector<std::size_t>& steps) {
  std::vector<Date> dates;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const auto date = parsed(cells[i]);
    if (!date)
      fail("{}, row {}: the time '{}' is no date; 1949-01, 1949-01-31 or 1949-01-31T12:30 is expected", where, i + 1,
           shown(cells[i]));
    if (i > 0 && (date->day.has_value() != dates[0].day.has_value()))
      fail("{}, row {}: the time '{}' is not written as the first, '{}'; write all dates alike", where, i + 1,
           shown(cells[i]), shown(cells[0]));
    dates.push_back(*date);
  }
  SeriesTime time;
  const auto all = [&](auto is) { return std::ranges::all_of(dates, is); };
  const bool has_clock = !all([](const Date& d) { return !d.second; });
  if (!has_clock && all([&](const Date& d) { return d.day == dates[0].day; }) && dates.size() > 1) {
    time.unit_ = Unit::month, time.day_ = static_cast<int>(dates[0].day.value_or(0));
  } else if (!has_clock && all([](const Date& d) { return d.is_last_day(); })) {
    time.unit_ = Unit::month, time.day_ = kLastDay;
  } else {
    time.unit_ = has_clock ? Unit::second : Unit::day;
  }
  std::vector<std::int64_t> at, apart;
  for (const Date& date : dates)
    at.push_back(time.unit_ == Unit::month ? date.months() : has_clock ? date.seconds() : date.days());
  std::int64_t step = 0;
  for (std::size_t i = 1; i < at.size(); ++i) {
    if (at[i] <= at[i - 1])
      fail("{}, row {}: the time {} does not come after {}; sort the rows by time, each time once", where, i + 1,
           shown(cells[i]), shown(cells[i - 1]));
    apart.push_back(at[i] - at[i - 1]);
    step = std::gcd(step, apart.back());
  }
  if (step == 0) step = 1;
  if (static_cast<std::size_t>((at.back() - at[0]) / step) > kMostGaps * at.size()) {
    std::ranges::nth_element(apart, apart.begin() + static_cast<std::ptrdiff_t>(apart.size() / 2));
    step = apart[apart.size() / 2], time.is_rounded_ = true;
  }
  time.first_ = static_cast<double>(at[0]), time.step_ = static_cast<double>(step);
  steps.clear();
  for (std::size_t i = 0; i < at.size(); ++i) {
    steps.push_back(static_cast<std::size_t>((at[i] - at[0] + step / 2) / step));
    if (i > 0)
      check_gap(where, i + 1, std::string(shown(cells[i])), static_cast<double>(steps[i] - steps[i - 1]),
                static_cast<double>(steps[i]) - static_cast<double>(i), time.step_text());
  }
  return time;
}

SeriesTime SeriesTime::of_numbers(const std::string& where, std::span<const double> times,
                                  std::vector<std::size_t>& steps) {
  constexpr double kSameStep = 1e-3;  // part of a step; people round times when they write them
  double step = times.size() < 2 ? 1 : HUGE_VAL;
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (std::isnan(times[i])) fail("{}, row {}: the time is missing; fill it in, or delete the row", where, i + 1);
    if (i == 0) continue;
    if (!(times[i] > times[i - 1]))
      fail("{}, row {}: the time {} does not come after {}; sort the rows by time, each time once", where, i + 1,
           times[i], times[i - 1]);
    step = std::min(step, times[i] - times[i - 1]);
  }
  if (times.empty()) return {};
  const SeriesTime time(times[0], step);
  steps.clear();
  for (std::size_t i = 0; i < times.size(); ++i) {
    const double at = (times[i] - times[0]) / step, place = std::round(at);
    const double before = i == 0 ? 0 : static_cast<double>(steps.back());
    check_gap(where, i + 1, fmt::format("{}", times[i]), place - before, place - static_cast<double>(i),
              time.step_text());
    if (std::abs(at - place) > kSameStep)
      fail(
          "{}, row {}: the time {} is {:.3f} steps of {} after the first; equal steps are expected, with rows left "
          "out where nothing was measured",
          where, i + 1, times[i], at, step);
    steps.push_back(static_cast<std::size_t>(place));
  }
  return time;
}

void SeriesTime::check_end(std::size_t steps) const {
  constexpr double kLastYear = 32767;  // last year of the calendar
  const double last = is_date() ? std::floor(number(steps)) : 0;
  if (last > kLastYear)
    fail("the series would end in the year {:.0f}; dates up to the year {:.0f} are known: forecast fewer steps", last,
         kLastYear);
}

std::string SeriesTime::text(std::size_t t) const {
  const double now = first_ + step_ * static_cast<double>(t);
  if (unit_ == Unit::number) return fmt::format("{:.10g}", now);  // may exceed every whole number
  const auto whole = static_cast<std::int64_t>(now);
  switch (unit_) {
    case Unit::number:
    case Unit::day:
      return written(whole);
    case Unit::month:
      break;
    case Unit::second: {
      const auto days = static_cast<std::int64_t>(std::floor(now / kSecondsADay));
      const std::int64_t second = whole - days * kSecondsADay;
      const std::string clock = fmt::format("{}T{:02}:{:02}", written(days), second / 3600, second / 60 % 60);
      return second % 60 == 0 ? clock : fmt::format("{}:{:02}", clock, second % 60);
    }
  }
  const std::string month = fmt::format("{:04}-{:02}", whole / 12, whole % 12 + 1);
  if (day_ == 0) return month;
  const auto last = std::chrono::year(static_cast<int>(whole / 12)) /
                    std::chrono::month(static_cast<unsigned>(whole % 12 + 1)) / std::chrono::last;
  return fmt::format("{}-{:02}", month, std::min(day_, static_cast<int>(static_cast<unsigned>(last.day()))));
}

double SeriesTime::number(std::size_t t) const {
  constexpr double kDaysAYear = 365.2425;
  const double now = first_ + step_ * static_cast<double>(t);
  switch (unit_) {
    case Unit::number:
      break;
    case Unit::month:
      return now / 12;
    case Unit::day:
      return 1970 + now / kDaysAYear;
    case Unit::second:
      return 1970 + now / (kDaysAYear * kSecondsADay);
  }
  return now;
}

std::string SeriesTime::step_text() const {
  const auto several = [](double count, const char* one) {
    return fmt::format("{:g} {}{}", count, one, count == 1 ? "" : "s");
  };
  switch (unit_) {
    case Unit::number:
      return fmt::format("{:g}", step_);
    case Unit::month:
      return several(step_, "month");
    case Unit::day:
      return several(step_, "day");
    case Unit::second:
      break;
  }
  for (const auto& [unit, one] : {std::pair{86400.0, "day"}, {3600.0, "hour"}, {60.0, "minute"}})
    if (std::fmod(step_, unit) == 0) return several(step_ / unit, one);
  return several(step_, "second");
}

std::vector<double> SeriesTime::usual_seasons() const {
  constexpr double kLongest = 10'000, kWeek = 7, kYear = 365.2425;  // steps; days
  std::vector<double> seasons;
  const auto add = [&](double steps) {
    if (steps >= 2 && steps <= kLongest) seasons.push_back(steps);
  };
  if (unit_ == Unit::month) add(12 / step_);
  if (unit_ != Unit::day && unit_ != Unit::second) return seasons;
  const double step_in_days = unit_ == Unit::day ? step_ : step_ / static_cast<double>(kSecondsADay);
  for (const double days : {1.0, kWeek, kYear}) add(days / step_in_days);
  return seasons;
}

}  // namespace dma
