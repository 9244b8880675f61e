// support/: errors and small containers that know nothing of inference. Includes nothing else of the engine.
//
// The exceptions of the library. Each message is one line: what was found, what was expected, where, how to repair it.
#pragma once

#include <fmt/core.h>

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace dma {

// A wrong model, wrong data or wrong options, found before anything runs.
class Error : public std::runtime_error {
 public:
  // Whatever names of the user's it holds, a terminal can show it: control characters are written out.
  explicit Error(std::string_view message);
};

// The data contradict the model: two different point masses met on one variable, or what is observed cannot be.
class Contradiction : public Error {
 public:
  using Error::Error;
};

template <class... Arguments>
[[noreturn]] void fail(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  throw Error(fmt::format(format, std::forward<Arguments>(arguments)...));
}

// "; did you mean 'product'? known: copy, product, sum": the nearest spelling (if one is near) and all that exists.
std::string suggestion(std::string_view found, std::span<const std::string> known);

}  // namespace dma
