#include "engine/support/text.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>

namespace dma {

namespace {

// Marks that change the order in which text is shown, and the two separators that end a line.
bool turns_or_ends_line(std::uint32_t code) {
  return code == 0x061c || code == 0x200e || code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
         (code >= 0x2066 && code <= 0x2069);
}

// Number of bytes of the plain character at the start of the text; 0 if there is none. Overlong forms, surrogates and
// code points beyond U+10FFFF are not UTF-8.
std::size_t plain_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return first >= ' ' && first != 0x7f ? 1 : 0;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  std::uint32_t code = first & (0xffu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    code = (code << 6) | (byte(i) & 0x3fu);
  }
  constexpr std::uint32_t kLeast[] = {0, 0, 0xa0, 0x800, 0x10000};  // U+0080 to U+009F are control characters
  if (code < kLeast[length] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return 0;
  return turns_or_ends_line(code) ? 0 : length;
}

}  // namespace

bool is_plain_text(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = plain_character(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = plain_character(text);
    if (length == 0)
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
    else
      out += text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

fmt::format_context::iterator TextFormatter::write(std::string_view text, fmt::format_context& context) const {
  return format(text, context);
}

}  // namespace dma
