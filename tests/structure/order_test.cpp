// The compiler chooses the order in which the arguments of a call are evaluated, and g++ chooses differently for
// different processors. What one argument changes, no other may read.
#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/structure/source_tree.h"

namespace {

// The text of a file with blanks instead of comments and of what stands in quotes.
std::string code_of(const dma::structure::SourceFile& file) {
  std::string code;
  for (const std::string& line : file.lines) {
    char quote = 0;
    for (std::size_t i = 0; i < line.size(); ++i) {
      const char c = line[i];
      if (quote == 0 && line.compare(i, 2, "//") == 0) break;
      const bool is_digit_mark = c == '\'' && i > 0 && std::isalnum(static_cast<unsigned char>(line[i - 1]));
      const bool ends = quote != 0 && c == quote;
      if (quote == 0 && (c == '"' || c == '\'') && !is_digit_mark) quote = c;
      code += quote == 0 ? c : ' ';
      if (quote != 0 && c == '\\') ++i;
      if (ends) quote = 0;
    }
    code += '\n';
  }
  return code;
}

// The arguments of the call whose "(" stands before `at`; none where it does not close before a ";".
std::vector<std::string> arguments(std::string_view code, std::size_t at) {
  std::vector<std::string> all(1);
  for (int depth = 1; at < code.size(); ++at) {
    const char c = code[at];
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (depth == 0) return all;
    if (depth == 1 && c == ';') return {};
    if (depth == 1 && c == ',')
      all.emplace_back();
    else
      all.back() += c;
  }
  return {};
}

// Names that an expression changes: x of ++x, x--, std::move(x), x.push_back(...), x = ..., draw(random), random.any().
std::set<std::string> changed_in(const std::string& expression) {
  static const std::regex change(
      R"((?:\+\+|--)(\w+)|std::move\((\w+)\))"
      R"(|(\w+)(?:\+\+|--))"
      R"(|(\w+)(?:\.|->)(?:(?:add|append|push|pop|take|next|emplace|draw|insert|erase|reset|release|clear|resize|swap|read)(?:_\w+)?)\()"
      R"(|(?:^|[^\w.=!<>])(\w+) (?:[-+*/]?=) )"
      R"(|\b(random|rng|generator|choices)(?=[.),]))");
  std::set<std::string> names;
  for (std::sregex_iterator found(expression.begin(), expression.end(), change), end; found != end; ++found)
    for (std::size_t group = 1; group < found->size(); ++group)
      if ((*found)[group].matched) names.insert((*found)[group]);
  return names;
}

bool mentions(const std::string& expression, const std::string& name) {
  return std::regex_search(expression, std::regex("(?:^|[^\\w.>])" + name + "\\b(?! *=[^=])"));
}

// "rows" of f(rows.empty(), rows.add_row()); empty for calls whose arguments leave each other alone.
std::string disputed(const std::vector<std::string>& all) {
  for (const std::string& one : all) {
    if (one.find("](") != std::string::npos || one.find("] {") != std::string::npos) continue;  // a lambda: runs later
    for (const std::string& name : changed_in(one))
      for (const std::string& other : all)
        if (&other != &one && mentions(other, name)) return name;
  }
  return "";
}

std::string disputed(const std::string& call) { return disputed(arguments(call, call.find('(') + 1)); }

}  // namespace

TEST_CASE("order: what the check finds, and what it lets pass") {
  CHECK(disputed("read_row(rows.empty(), rows.add_row())") == "rows");
  CHECK(disputed("add(std::move(name), name.size())") == "name");
  CHECK(disputed("add(i, numbers[i++])") == "i");
  CHECK(disputed("Gaussian(normal(random), normal(random))") == "random");
  CHECK(disputed("to_z(random.any(), random.any())") == "random");
  CHECK(disputed("add(std::move(name), other.name)").empty());
  CHECK(disputed("add(std::move(saved.name), saved.size)").empty());
  CHECK(disputed("add(g, g.variable(x))").empty());
  CHECK(disputed("each(random, [&](auto& x) { x = unit(random); })").empty());
}

TEST_CASE("order: no argument of a call changes what another one reads") {
  const std::regex call(R"(\b(\w+)(?:<[^<>;(){}]*>)?\()");
  const std::set<std::string> words = {"if", "for", "while", "switch", "return", "catch", "sizeof"};
  std::size_t calls = 0;
  for (const auto& file : dma::structure::read_sources()) {
    const std::string code = code_of(file);
    for (std::sregex_iterator found(code.begin(), code.end(), call), end; found != end; ++found) {
      if (words.contains((*found)[1])) continue;
      const std::vector<std::string> all =
          arguments(code, static_cast<std::size_t>(found->position() + found->length()));
      if (all.size() < 2) continue;
      ++calls;
      const std::string name = disputed(all);
      if (name.empty()) continue;
      const auto line = 1 + std::count(code.begin(), code.begin() + found->position(), '\n');
      FAIL_CHECK(file.path << ":" << line << ": one argument of " << (*found)[1] << "() changes '" << name
                           << "', another reads it; give one of them a name before the call");
    }
  }
  CHECK(calls > 10'000);
}
