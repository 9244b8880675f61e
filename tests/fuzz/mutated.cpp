#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "tests/fuzz/choices.h"

namespace dma::fuzz {

namespace {

constexpr std::array<std::string_view, 48> kTroublesome = {
    "0",     "-0",    "1e400",  "-1e400", "1e308", "1e-320", "5e-324", "nan",  "NaN",  "inf",  "\"inf\"", "\"nan\"",
    "1.5",   "-1",    "1e0",    "00",     "0x1",   "1_000",  "1,5",    "+1",   "",     " ",    "\t",      "\n",
    "\r\n",  "\r",    "\"",     "\"\"",   "'",     "`",      "\\",     "\\u0000", "[",  "]",    "{",       "}",
    "null",  "true",  "false",  "4294967297", "18446744073709551616", "9223372036854775808", "2147483648",
    "\xff\xfe", "\xef\xbb\xbf", "\xf6", "\x1b[2J", "$(x)"};

bool is_number_character(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' || c == 'e';
}

void replace_number(std::string& text, Choices& choices) {
  const std::size_t from = choices.below(text.size());
  const auto begin = std::find_if(text.begin() + static_cast<std::ptrdiff_t>(from), text.end(), is_number_character);
  const auto end = std::find_if_not(begin, text.end(), is_number_character);
  if (begin == end) return;
  const std::string with =
      choices.one_in(2) ? std::string(choices.any_of(kTroublesome)) : fmt::format("{}", choices.number());
  text.replace(begin, end, with);
}

}  // namespace

std::string mutated(std::string text, Choices& choices) {
  for (std::size_t changes = 1 + choices.below(choices.one_in(4) ? 8 : 2); changes > 0; --changes) {
    if (text.empty()) return std::string(choices.any_of(kTroublesome));
    const std::size_t at = choices.below(text.size()), length = 1 + choices.below(choices.one_in(4) ? 200 : 8);
    switch (choices.below(10)) {
      case 0: text[at] = static_cast<char>(choices.below(256)); break;
      case 1: text[at] = static_cast<char>(text[at] ^ (1 << choices.below(8))); break;
      case 2: text.erase(at, length); break;
      case 3: text.insert(at, text.substr(choices.below(text.size()), length)); break;
      case 4: text.insert(at, choices.any_of(kTroublesome)); break;
      case 5: text.resize(at); break;
      case 6: text.replace(at, length, text.substr(choices.below(text.size()), length)); break;
      default: replace_number(text, choices); break;
    }
  }
  return text;
}

}  // namespace dma::fuzz
