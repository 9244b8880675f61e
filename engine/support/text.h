// Text that came from somebody's data, before it reaches a terminal, a file or another program.
#pragma once

#include <fmt/core.h>

#include <string>
#include <string_view>

namespace dma {

// Whether all of it is UTF-8 without control characters: neither line ends, nor escape sequences, nor marks that turn
// the direction of what follows.
bool is_plain_text(std::string_view text);

// The same text with everything that is_plain_text refuses written out: "\x1b".
std::string printable(std::string_view text);

// The formatter of a type that has a text: fmt::print("{:>40}", report). Reading <fmt/format.h> is left to text.cpp.
struct TextFormatter : fmt::formatter<fmt::string_view> {
  fmt::format_context::iterator write(std::string_view text, fmt::format_context& context) const;
};

}  // namespace dma
