// Text from the user's data, before it reaches a terminal, a file or another program.
#pragma once

#include <fmt/core.h>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

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

// The exceptions of the library. Each message is one line: what was found, what was expected, where, and how to repair
// it.
// A wrong model, wrong data or wrong options, found before anything runs.
class Error : public std::runtime_error {
 public:
  // Writes out control characters, so that a terminal can show the user's names safely.
  explicit Error(std::string_view message);
};

// The data contradict the model: two different point masses met on one variable, or the observations are impossible.
class Contradiction : public Error {
 public:
  using Error::Error;
};

// Throws an Error.
template <class... Arguments>
[[noreturn, gnu::cold]] void fail(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  throw Error(fmt::format(format, std::forward<Arguments>(arguments)...));
}

// "; did you mean 'product'? known: copy, product, sum": the nearest spelling (if one is near) and all known names.
std::string suggestion(std::string_view found, std::span<const std::string> known);
// The same for a list of items that have names.
template <class List, class NameOf>
std::string suggestion(std::string_view found, const List& list, const NameOf& name_of) {
  std::vector<std::string> known;
  for (const auto& item : list) known.emplace_back(std::invoke(name_of, item));
  return suggestion(found, known);
}

}  // namespace dma
