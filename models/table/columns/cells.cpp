#include "models/table/columns/cells.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace dma {

bool is_missing_cell(std::string_view cell) {
  constexpr std::array<std::string_view, 9> kMissing = {"", "NA", "N/A", "NaN", "nan", "NAN", "null", "NULL", "?"};
  return std::ranges::find(kMissing, cell) != kMissing.end();
}

bool stands_for_nothing(std::string_view cell) {
  constexpr std::array<std::string_view, 12> kNothing = {"-",   "--",   ".",    "none", "n/a",     "na",
                                                         "nil", "<na>", "#n/a", "nat",  "missing", "unknown"};
  return is_missing_cell(cell) || std::ranges::find(kNothing, in_lower_case(cell)) != kNothing.end();
}

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

std::optional<int> take_whole(std::string_view& text, std::size_t most_digits) {
  int value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + std::min(text.size(), most_digits), value);
  if (code != std::errc{} || !is_digit(text.front())) return {};
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

std::string_view take_letters(std::string_view& text) {
  std::size_t size = 0;
  while (size < text.size() && is_letter(text[size])) ++size;
  const std::string_view letters = text.substr(0, size);
  text.remove_prefix(size);
  return letters;
}

}  // namespace dma
