#include "models/table/cell_values.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <string>

namespace dma {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z'; }
std::string in_lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (is_letter(c)) c |= 0x20;
  return lower;
}

bool take_start(std::string_view& text, std::string_view what) {
  if (!text.starts_with(what)) return false;
  text.remove_prefix(what.size());
  return true;
}
bool take_end(std::string_view& text, std::string_view what) {
  if (!text.ends_with(what)) return false;
  text.remove_suffix(what.size());
  return true;
}
void skip_spaces(std::string_view& text) {
  while (take_start(text, " ") || take_start(text, "\t") || take_start(text, "\xc2\xa0")) continue;
  while (take_end(text, " ") || take_end(text, "\t") || take_end(text, "\xc2\xa0")) continue;
}

constexpr std::array<std::string_view, 12> kSignsOfNumbers = {"$",   "€",   "£",   "¥",   "%",  "USD",
                                                     "EUR", "GBP", "CHF", "JPY", "US$", "₹"};
// One unit before or behind the number, at most.
void take_unit(std::string_view& text) {
  skip_spaces(text);
  const bool taken = std::ranges::any_of(kSignsOfNumbers, [&](std::string_view unit) {
    return take_end(text, unit) || (unit != "%" && take_start(text, unit));
  });
  if (taken) skip_spaces(text);
}

// Digits without what stands between groups of three; the rest of the text stays.
bool take_grouped(std::string_view& text, char mark, std::string& digits) {
  const std::string_view other = mark == '.' ? "," : ".";
  const auto count_digits = [&] {
    std::size_t count = 0;
    while (count < text.size() && is_digit(text[count])) ++count;
    return count;
  };
  std::size_t count = count_digits();
  digits.append(text.substr(0, count));
  text.remove_prefix(count);
  for (std::string_view between = {}; count >= 1 && count <= 3;) {
    std::string_view rest = text;
    const auto is_between = [&](std::string_view b) {
      return (between.empty() || between == b) && take_start(rest, b);
    };
    std::string_view found = {};
    for (const std::string_view b : {other, std::string_view(" "), std::string_view("'"), std::string_view("\xc2\xa0"),
                                     std::string_view("\xe2\x80\xaf")})
      if (found.empty() && is_between(b)) found = b;
    if (found.empty()) return true;
    text = rest;
    if (count_digits() != 3) return false;
    between = found;
    digits.append(text.substr(0, 3));
    text.remove_prefix(3);
  }
  return true;
}

}  // namespace

bool is_missing_cell(std::string_view cell) {
  constexpr std::array<std::string_view, 9> kMissing = {"", "NA", "N/A", "NaN", "nan", "NAN", "null", "NULL", "?"};
  return std::ranges::find(kMissing, cell) != kMissing.end();
}

bool stands_for_nothing(std::string_view cell) {
  constexpr std::array<std::string_view, 12> kNothing = {"-",   "--",   ".",    "none", "n/a",     "na",
                                                         "nil", "<na>", "#n/a", "nat",  "missing", "unknown"};
  return is_missing_cell(cell) || std::ranges::find(kNothing, in_lower_case(cell)) != kNothing.end();
}

std::optional<double> number_in(std::string_view text, char mark) {
  skip_spaces(text);
  bool is_negative = text.size() > 2 && text.starts_with('(') && text.ends_with(')');
  if (is_negative) text = text.substr(1, text.size() - 2);
  const auto take_sign = [&] {
    if (take_start(text, "+")) return;
    if (!is_negative && (take_start(text, "-") || take_start(text, "\xe2\x88\x92"))) is_negative = true;
  };
  take_sign();
  const bool was_negative = is_negative;
  take_unit(text);
  if (!was_negative) take_sign();
  std::string plain = is_negative ? "-" : "";
  const std::size_t before = plain.size();
  if (!take_grouped(text, mark, plain)) return {};
  bool has_digits = plain.size() > before;
  if (take_start(text, mark == '.' ? "." : ",")) {
    plain += '.';
    while (!text.empty() && is_digit(text.front())) plain += text.front(), text.remove_prefix(1), has_digits = true;
  }
  if (!has_digits) return {};
  plain += text;  // an exponent, or what makes it no number
  double value = 0;
  const auto [end, code] = std::from_chars(plain.data(), plain.data() + plain.size(), value);
  if (end != plain.data() + plain.size() || code != std::errc{} || !std::isfinite(value)) return {};
  return value;
}

std::optional<bool> truth_in(std::string_view cell) {
  constexpr std::array<std::string_view, 6> kYes = {"true", "yes", "on", "y", "t", "1"};
  constexpr std::array<std::string_view, 6> kNo = {"false", "no", "off", "n", "f", "0"};
  const std::string lower = in_lower_case(cell);
  if (std::ranges::find(kYes, lower) != kYes.end()) return true;
  if (std::ranges::find(kNo, lower) != kNo.end()) return false;
  return {};
}

namespace {

std::optional<int> take_number(std::string_view& text, std::size_t most_digits) {
  int value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + std::min(text.size(), most_digits), value);
  if (code != std::errc{} || !is_digit(text.front())) return {};
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

std::optional<int> take_month_name(std::string_view& text) {
  constexpr std::array<std::string_view, 12> kMonths = {"january",   "february", "march",    "april",
                                                        "may",       "june",     "july",     "august",
                                                        "september", "october",  "november", "december"};
  std::size_t size = 0;
  while (size < text.size() && is_letter(text[size])) ++size;
  const std::string word = in_lower_case(text.substr(0, size));
  if (word.size() < 3) return {};
  for (std::size_t m = 0; m < kMonths.size(); ++m)
    if (kMonths[m] == word || word == kMonths[m].substr(0, 3) || (word == "sept" && m == 8)) {
      text.remove_prefix(size);
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
    const auto number = take_number(text, 4);
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
  const auto hour = take_number(text, 2);
  if (!hour || !take_start(text, ":")) return {};
  const auto minute = take_number(text, 2);
  if (!minute || *hour > 24 || *minute > 59) return {};
  double seconds = 0;
  if (take_start(text, ":")) {
    const auto whole = take_number(text, 2);
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
  const bool has_shift = !take_start(text, "Z") && !take_start(text, "UTC") &&
                         (take_start(text, "+") || take_start(text, "-"));
  if (has_shift) {
    if (!take_number(text, 2)) return {};
    take_start(text, ":");
    if (!text.empty() && !take_number(text, 2)) return {};
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

}  // namespace dma
