// Durations, in hours: 1:30:00, 36:00, 90 min, 2 d, 1h30, 1 h 30 min, 1.5 hours, -45s.
#include <array>
#include <charconv>

#include "models/table/columns/column_types.h"

namespace dma {

namespace {

struct Duration {
  double hours = 0;
  bool is_clear = false, is_short = false;  // no time of the day; perhaps none: h:mm:ss with one digit of hours
};

std::optional<Duration> clock_in(std::string_view text) {
  const std::size_t digits = text.find(':');
  const auto hours = take_whole(text, 6), minutes = take_start(text, ":") ? take_whole(text, 2) : std::nullopt;
  if (!hours || !minutes || *minutes > 59) return {};
  Duration found{*hours + *minutes / 60.0, *hours > 24};
  if (text.empty()) return found;
  if (!take_start(text, ":") || text.size() < 2) return {};
  double seconds = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), seconds, std::chars_format::fixed);
  if (code != std::errc{} || end != text.data() + text.size() || !is_digit(text[0]) || seconds >= 60) return {};
  return Duration{found.hours + seconds / 3600, found.is_clear, digits == 1};
}

// Hours of a unit. `m`, which alone may be metres, counts after larger units only.
std::optional<double> hours_of_unit(std::string_view unit, bool is_first) {
  struct Unit {
    double hours;
    std::array<std::string_view, 5> names;
  };
  constexpr std::array<Unit, 5> kUnits = {{{168, {"w", "wk", "week", "weeks", "wks"}},
                                           {24, {"d", "day", "days"}},
                                           {1, {"h", "hr", "hrs", "hour", "hours"}},
                                           {1 / 60.0, {"min", "mins", "minute", "minutes", "m"}},
                                           {1 / 3600.0, {"s", "sec", "secs", "second", "seconds"}}}};
  const std::string name = in_lower_case(unit);
  if (name.empty() || (name == "m" && is_first)) return {};
  for (const Unit& one : kUnits)
    for (const std::string_view known : one.names)
      if (name == known) return one.hours;
  return {};
}

// Numbers with units that become smaller; after hours the last number may have none.
std::optional<Duration> units_in(std::string_view text) {
  double hours = 0, last = 0;
  while (!text.empty()) {
    double number = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
    if (code != std::errc{} || !is_digit(text[0])) return {};
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    skip_spaces(text);
    const bool is_rest = text.empty() && last == 1 && number < 60;
    const std::optional<double> unit = is_rest ? 1 / 60.0 : hours_of_unit(take_letters(text), last == 0);
    if (!unit || (last > 0 && *unit >= last)) return {};
    hours += number * *unit, last = *unit;
    skip_spaces(text);
  }
  if (last == 0) return {};
  return Duration{hours, true};
}

std::optional<Duration> duration_in(std::string_view text) {
  skip_spaces(text);
  const bool is_negative = take_start(text, "-") || take_start(text, "\xe2\x88\x92");
  auto found = clock_in(text);
  if (!found) found = units_in(text);
  if (found && is_negative) found = Duration{-found->hours, true};
  return found;
}

class DurationColumn final : public ColumnType {
 public:
  const ColumnKind& kind() const override { return duration_column; }
  Found read(std::string_view cell, double* made) const override {
    const auto duration = duration_in(cell);
    if (duration) *made = duration->hours;
    return duration ? Found::value : Found::stray;
  }
  std::vector<std::string> columns(const std::string& name) const override { return {name + " (hours)"}; }
  std::string text() const override { return "durations in hours"; }
};

// Cells that may all be times of the day are left to dates, unless all are below ten hours and have seconds.
ColumnGuess guess_durations(std::span<const std::string> cells, bool /*has_semicolons*/) {
  bool is_clear = false, is_short = true;
  const CellCounts counts(cells, [&](const std::string& cell) {
    const auto duration = duration_in(cell);
    is_clear = is_clear || (duration && duration->is_clear);
    is_short = is_short && (!duration || duration->is_short);
    return duration.has_value();
  });
  if (!(is_clear || is_short) || !counts.is_most()) return {};
  return counts.guess(std::make_shared<DurationColumn>());
}

}  // namespace

const ColumnKind duration_column = {
    .name = "duration",
    .cell = "duration",
    .cells = "durations",
    .unit = "hours",
    .guess = guess_durations,
    .blank = []() -> std::shared_ptr<ColumnType> { return std::make_shared<DurationColumn>(); }};

}  // namespace dma
