// Times of the steps of a series: numbers, or dates in the form of ISO 8601.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dma {

class SeriesTime {
 public:
  SeriesTime() = default;  // 1, 2, 3, ...
  SeriesTime(double first, double step) : first_(first), step_(step) {}

  // Reads the times of rows, which must rise, and writes the step of each row to `steps`. Dates are "1949-01",
  // "1949-01-31" or "1949-01-31T12:30:00". The same day of every month, or its last, makes steps of months; other dates
  // make steps of days or seconds. The step is the largest that reaches every row; if only a tiny step does, times are
  // rounded to steps of the median distance between rows. `where` begins error messages: "'sales.csv'".
  static SeriesTime of_dates(const std::string& where, std::span<const std::string> cells,
                             std::vector<std::size_t>& steps);
  // The same for times that are numbers, which must lie on a grid of equal steps.
  static SeriesTime of_numbers(const std::string& where, std::span<const double> times,
                               std::vector<std::size_t>& steps);

  bool is_date() const { return unit_ != Unit::number; }
  bool is_rounded() const { return is_rounded_; }
  std::string text(std::size_t t) const;
  double number(std::size_t t) const;  // the time itself or, for pictures, the year with its fraction
  std::string step_text() const;       // "1 month", "7 days"
  // An Error if so many steps end after the last year that a date can name.
  void check_end(std::size_t steps) const;
  // Lengths of the usual seasons, in steps: a day, a week and a year.
  std::vector<double> usual_seasons() const;

 private:
  enum class Unit { number, month, day, second };
  Unit unit_ = Unit::number;
  double first_ = 1, step_ = 1;  // months since the year 0, days or seconds since 1970
  int day_ = 0;                  // day of the month; 0: none is written; 32: the last
  bool is_rounded_ = false;
};

bool is_date(std::string_view cell);

}  // namespace dma
