// Text from the user's data, before it reaches a terminal, a file or another program.
#pragma once

#include <fmt/core.h>

#include <string>
#include <string_view>

namespace dma {

// True if all of it is UTF-8 without control characters: no line ends, escape sequences, or marks that change the
// direction of text.
bool is_plain_text(std::string_view text);

// The text with everything that is_plain_text refuses written out: "\x1b".
std::string printable(std::string_view text);

// The values with `between` between them: "a, b, c". Each is written by `format`. (fmt::join would compile fmt's own
// code for numbers and text once more in every unit that has it.)
template <class Values>
std::string joined(const Values& values, std::string_view between = ", ", fmt::string_view format = "{}") {
  std::string all;
  bool is_first = true;
  for (const auto& value : values) {
    if (!is_first) all += between;
    all += fmt::vformat(format, fmt::make_format_args(value));
    is_first = false;
  }
  return all;
}

// The formatter of a type with text(): fmt::print("{:>40}", report). Reading <fmt/format.h> is left to text.cpp.
struct TextFormatter : fmt::formatter<fmt::string_view> {
  fmt::format_context::iterator write(std::string_view text, fmt::format_context& context) const;
};

}  // namespace dma
