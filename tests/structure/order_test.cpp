// The compiler chooses the order in which the arguments of a call are evaluated, and g++ chooses differently for
// different processors. An argument may not read what another one changes.
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

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// The function called by the "(" at `open`: f of f( and of f<int>(; empty if there is none.
std::string_view called(std::string_view code, std::size_t open) {
  std::size_t end = open;
  if (end > 0 && code[end - 1] == '>') {
    end = code.find_last_of("<>;(){}", end - 2);
    if (end == code.npos || code[end] != '<') return {};
  }
  std::size_t begin = end;
  while (begin > 0 && is_word(code[begin - 1])) --begin;
  return code.substr(begin, end - begin);
}

// The arguments of the call whose "(" precedes `at`; none if it does not close before a ";".
std::vector<std::string_view> arguments(std::string_view code, std::size_t at) {
  std::vector<std::string_view> all;
  std::size_t begin = at;
  for (int depth = 1; at < code.size(); ++at) {
    const char c = code[at];
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (depth == 1 && c == ';') return {};
    if (depth > 1 || (depth == 1 && c != ',')) continue;
    all.push_back(code.substr(begin, at - begin));
    begin = at + 1;
    if (depth == 0) return all;
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
  // Regular expressions are slow, and few arguments change anything.
  constexpr std::string_view kSigns[] = {"++",   "--",      "= ",   "move",  "random", "rng",   "generator", "choices",
                                         "add",  "append",  "push", "pop",   "take",   "next",  "emplace",   "draw",
                                         "read", "release", "swap", "erase", "insert", "reset", "clear",     "resize"};
  std::set<std::string> names;
  if (std::ranges::none_of(kSigns, [&](auto sign) { return expression.find(sign) != expression.npos; })) return names;
  for (std::sregex_iterator found(expression.begin(), expression.end(), change), end; found != end; ++found)
    for (std::size_t group = 1; group < found->size(); ++group)
      if ((*found)[group].matched) names.insert((*found)[group]);
  return names;
}

bool mentions(std::string_view expression, const std::string& name) {
  return expression.find(name) != expression.npos &&
         std::regex_search(expression.data(), expression.data() + expression.size(),
                           std::regex("(?:^|[^\\w.>])" + name + "\\b(?! *=[^=])"));
}

// "rows" of f(rows.empty(), rows.add_row()); empty for calls whose arguments leave each other alone.
std::string disputed(const std::vector<std::string_view>& all) {
  for (const std::string_view& one : all) {
    if (one.find("](") != one.npos || one.find("] {") != one.npos) continue;  // a lambda runs later
    for (const std::string& name : changed_in(std::string(one)))
      for (const std::string_view& other : all)
        if (&other != &one && mentions(other, name)) return name;
  }
  return "";
}

std::string disputed(const std::string& call) { return disputed(arguments(call, call.find('(') + 1)); }

}  // namespace

TEST_CASE("order: examples that the check finds, and ones that it accepts") {
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
  const std::set<std::string_view> words = {"if", "for", "while", "switch", "return", "catch", "sizeof"};
  std::size_t calls = 0;
  for (const auto& file : dma::structure::sources()) {
    std::string code;
    for (const auto& line : file.lines) code += line.code + "\n";
    for (std::size_t open = code.find('('); open != code.npos; open = code.find('(', open + 1)) {
      const std::string_view function = called(code, open);
      if (function.empty() || words.contains(function)) continue;
      const std::vector<std::string_view> all = arguments(code, open + 1);
      if (all.size() < 2) continue;
      ++calls;
      const std::string name = disputed(all);
      if (name.empty()) continue;
      const auto line = 1 + std::count(code.begin(), code.begin() + static_cast<std::ptrdiff_t>(open), '\n');
      FAIL_CHECK(file.place(static_cast<std::size_t>(line))
                 << "one argument of " << function << "() changes '" << name
                 << "', another reads it; give one of them a name before the call");
    }
  }
  CHECK(calls > 10'000);
}
