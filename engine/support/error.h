// support/: errors and small containers that know nothing of inference. Includes nothing else of the engine.
//
// The exceptions of the library. Each message is one line: what was found, what was expected, where, and how to repair
// it.
#pragma once

#include <fmt/core.h>

#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace dma {

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

template <class... Arguments>
[[noreturn, gnu::cold]] void fail(fmt::format_string<Arguments...> format, Arguments&&... arguments) {  // throws an Error
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
