// What a cell of a table says, from its text: a number in any of the forms people write, yes or no, a date, nothing.
#pragma once

#include <optional>
#include <string_view>

namespace dma {

bool is_missing_cell(std::string_view cell);    // empty, NA or the like
bool stands_for_nothing(std::string_view cell);  // that, and what does among numbers and dates: -, None, ...

// A finite number: 1234.5, 1,234.50, -$5, 12 %, (3.20 €) for -3.2. `mark` is before the decimals, '.' or ','; the other
// one of the two, spaces and ' stand between groups of three digits. Of 12 % it is 12.
std::optional<double> number_in(std::string_view cell, char mark);

// yes, no; true, false; on, off; y, n; t, f, in any case; 1 and 0.
std::optional<bool> truth_in(std::string_view cell);

enum class DateOrder { year_first, day_first, month_first };
// Days since 1970 with their fraction, of a date and perhaps a time (2024-01-31T08:30:00Z, 31.01.2024 08:30, 1/31/24
// 8:30 PM, 31 Jan 2024), or of a time alone its fraction of a day. A shift of the zone, as +02:00, is passed over: the
// hour of the day is what people mean by it.
std::optional<double> days_in(std::string_view cell, DateOrder order);

}  // namespace dma
