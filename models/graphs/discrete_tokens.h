// Shared code of the readers of text files: words and numbers with their lines, and the graph made of them.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/support/text.h"
#include "models/graphs/graph_file.h"

namespace dma::network_file {

struct Token {
  std::string_view text;
  std::size_t line = 1;
  bool is_quoted = false, is_end = false;
};

inline std::optional<double> finite_number(std::string_view text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + (text.starts_with('+') ? 1 : 0), end, value);
  if (stop != end || error != std::errc() || !std::isfinite(value)) return std::nullopt;
  return value;
}

// Words, numbers and marks. Comments of C and C++ are skipped.
class Tokens {
 public:
  Tokens(std::string_view text, std::string_view marks) : text_(text), marks_(marks) { next(); }

  const Token& peek() const { return token_; }
  Token take() {
    const Token taken = token_;
    next();
    return taken;
  }
  [[noreturn]] void refuse(const Token& at, std::string_view expected) const {
    fail("line {}: {} is found; {} is expected", at.line,
         at.is_end ? "the end of the file" : fmt::format("'{}'", printable(at.text.substr(0, 40))), expected);
  }
  bool skip(std::string_view mark) {
    if (token_.is_quoted || token_.text != mark) return false;
    next();
    return true;
  }
  void expect(std::string_view mark, std::string_view where) {
    if (!skip(mark)) refuse(token_, fmt::format("'{}' {}", mark, where));
  }
  Token word(std::string_view what) {
    if (token_.text.empty() || (!token_.is_quoted && marks_.find(token_.text[0]) != std::string_view::npos))
      refuse(token_, what);
    return take();
  }
  double number(std::string_view what) {
    const Token token = word(what);
    if (const auto value = finite_number(token.text)) return *value;
    refuse(token, what);
  }
  std::uint32_t count(std::uint32_t least, std::uint32_t most, std::string_view what) {
    const Token token = token_;
    const double value = number(what);
    if (!(value >= least && value <= most) || value != std::floor(value))
      refuse(token, fmt::format("{}, a whole number from {} to {},", what, least, most));
    return static_cast<std::uint32_t>(value);
  }

 private:
  void next() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n') ++line_;
      if (std::string_view(" \t\r\n\f\v").find(c) != std::string_view::npos)
        ++at_;
      else if (text_.substr(at_, 2) == "//")
        at_ = std::min(text_.find('\n', at_), text_.size());
      else if (text_.substr(at_, 2) == "/*")
        skip_comment();
      else
        break;
    }
    token_ = {{}, line_, false, at_ == text_.size()};
    if (token_.is_end) return;
    std::size_t end = at_ + 1;
    if (text_[at_] == '"') {
      end = text_.find('"', end);
      if (end == std::string_view::npos) fail("line {}: a quote is opened and never closed", line_);
      token_ = {text_.substr(at_ + 1, end - at_ - 1), line_, true};
      line_ += static_cast<std::size_t>(std::ranges::count(token_.text, '\n'));
      at_ = end + 1;
      return;
    }
    if (marks_.find(text_[at_]) == std::string_view::npos)
      while (end < text_.size() && std::string_view(" \t\r\n\f\v\"").find(text_[end]) == std::string_view::npos &&
             marks_.find(text_[end]) == std::string_view::npos)
        ++end;
    token_.text = text_.substr(at_, end - at_);
    at_ = end;
  }
  void skip_comment() {
    const std::size_t end = text_.find("*/", at_ + 2);
    if (end == std::string_view::npos) fail("line {}: a comment is opened and never closed", line_);
    line_ += static_cast<std::size_t>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                                                 text_.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
    at_ = end + 2;
  }

  std::string_view text_, marks_;
  std::size_t at_ = 0, line_ = 1;
  Token token_;
};

struct DiscreteVariable {
  std::string name;
  std::vector<std::string> categories;  // names; empty for UAI
  std::uint32_t values = 0;
  std::size_t line = 0;
};
struct Function {
  std::vector<std::uint32_t> scope;  // parents, then the child
  std::vector<double> numbers;       // the last variable of the scope innermost
  std::size_t line = 0;
  bool is_conditional = true;  // P(child | parents), otherwise a potential
};

// Largest deviation from 1 of a row of rounded probabilities, which is then normalised.
inline constexpr double kRowRounding = 2e-3;

// Variables with a value are observed; factors are in the order of the functions. Conditional ones in a directed cycle
// are refused.
GraphFile graph_of(const std::vector<DiscreteVariable>& variables, const std::vector<Function>& functions,
                   std::span<const GivenText> given);

}  // namespace dma::network_file
