// Readers of the text of a cell, whatever type its column has.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace dma {

bool is_missing_cell(std::string_view cell);     // empty, NA or the like
bool stands_for_nothing(std::string_view cell);  // also -, None, ..., as among numbers and dates

// A finite number: 1234.5, 1,234.50, -$5, 12 %, (3.20 €) for -3.2. `mark` is before the decimals, '.' or ','; the other
// one of the two, spaces and ' stand between groups of three digits. 12 % is 12.
std::optional<double> number_in(std::string_view cell, char mark);

enum class DateOrder { year_first, day_first, month_first };
// Days since 1970 with their fraction, of a date and perhaps a time (2024-01-31T08:30:00Z, 31.01.2024 08:30, 1/31/24
// 8:30 PM, 31 Jan 2024), or of a time alone its fraction of a day. A shift of the zone, as +02:00, is passed over: the
// hour of the day is what people mean by it.
std::optional<double> days_in(std::string_view cell, DateOrder order);

// Parts of a text: what is found is taken off it.
bool is_digit(char c);
bool is_letter(char c);
std::string in_lower_case(std::string_view text);
bool take_start(std::string_view& text, std::string_view what);
bool take_end(std::string_view& text, std::string_view what);
void skip_spaces(std::string_view& text);  // at both ends
std::optional<int> take_whole(std::string_view& text, std::size_t most_digits);
std::string_view take_letters(std::string_view& text);

}  // namespace dma
