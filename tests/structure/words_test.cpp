// Comments and texts for users are sentences or noun phrases, not relative clauses without a noun.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "tests/structure/source_tree.h"

namespace {

using dma::structure::read_sources;
using dma::structure::SourceFile;

// Path beginnings of files that are not rewritten yet. Remove a line when its files are.
constexpr std::array<std::string_view, 16> kExempt = {
    "engine/certify/",
    "engine/compile/",
    "engine/learn/",
    "engine/run/report.",
    "models/neighbours/",
    "models/network/",
    "models/table/",
    "tests/engine/learn/",
    "tests/models/neighbours/",
    "tests/models/network/",
    "tests/models/table/",
    "tests/tools/",
    "tools/bench/",
    "tools/dma/",
    "tools/experiments/",
    "tools/python/",
};

// Position of the "//" of a line, npos if it has none. `strings` receives its string literals.
std::size_t comment_of(const std::string& line, std::vector<std::string>& strings) {
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line.compare(i, 2, "//") == 0) return i;
    if (line[i] == '\'' && i > 0 && std::isalnum(static_cast<unsigned char>(line[i - 1])) != 0) continue;  // 1'000
    if (line[i] != '"' && line[i] != '\'') continue;
    const char quote = line[i];
    const std::size_t first = ++i;
    while (i < line.size() && line[i] != quote) i += line[i] == '\\' ? 2 : 1;
    if (quote == '"') strings.push_back(line.substr(first, i - first));
  }
  return std::string::npos;
}

// "file:line: text" of each comment, or text for users, that begins with a relative clause. Questions are fine.
std::vector<std::string> dangling(const SourceFile& file) {
  static const std::regex comment("(of|what|where|whether|whose|those|which|how)\\b[^?]*", std::regex::icase);
  static const std::regex text("([Oo]f|[Ww]hat|[Ww]hose|[Tt]hose|Which|Where) [^?]* [^?]*");
  std::vector<std::string> found;
  std::size_t before = std::string::npos;  // column of a comment that this line may continue
  bool is_raw = false, text_goes_on = false;
  for (std::size_t i = 0; i < file.lines.size(); ++i) {
    const std::string& line = file.lines[i];
    const auto begins = line.find("R\""), ends = line.rfind(")\"");
    const bool was_raw = is_raw;
    is_raw = (is_raw || begins != line.npos) && (ends == line.npos || (begins != line.npos && ends < begins));
    if (was_raw || begins != line.npos) continue;
    std::vector<std::string> strings;
    const std::size_t at = comment_of(line, strings);
    const std::string where = file.path + ":" + std::to_string(i + 1) + ": ";
    for (const std::string& one : strings) {
      if (!text_goes_on && std::regex_match(one, text)) found.push_back(where + one);
      text_goes_on = false;
    }
    const auto last = line.find_last_not_of(' ');
    text_goes_on = last != line.npos && line[last] == '"';  // the next literal continues this one
    const bool is_alone = at != line.npos && line.find_first_not_of(' ') == at;
    if (at != line.npos && at + 3 < line.size() && !(is_alone && at == before)) {
      if (const std::string said = line.substr(at + 3); std::regex_match(said, comment)) found.push_back(where + said);
    }
    before = at;
  }
  return found;
}

}  // namespace

TEST_CASE("words: the check finds relative clauses without a noun") {
  const auto found = [](std::vector<std::string> lines) { return dangling({"a.h", std::move(lines)}).size(); };
  CHECK(found({"// Of a variable."}) == 1);
  CHECK(found({"// What arrives."}) == 1);
  CHECK(found({"int a;  // of each slot"}) == 1);
  CHECK(found({"// The message", "// of a slot."}) == 0);
  CHECK(found({"int a;  // message", "        // of a slot"}) == 0);
  CHECK(found({"int a;  // one", "int b;  // of a slot"}) == 1);
  CHECK(found({"// Which of three inputs matter?"}) == 0);
  CHECK(found({"// Offset of a slot."}) == 0);
  CHECK(found({"f(\"what is given is wrong\");"}) == 1);
  CHECK(found({"f(\"the value that\"", "  \"what is given is wrong\");"}) == 0);
  CHECK(found({"f(\"http://of.a.kind\");"}) == 0);
}

TEST_CASE("words: comments and texts for users begin with a noun or a verb") {
  for (const auto& file : read_sources()) {
    if (std::ranges::any_of(kExempt, [&](std::string_view one) { return file.path.starts_with(one); })) continue;
    if (file.path == "tests/structure/words_test.cpp") continue;  // has examples of both
    for (const std::string& one : dangling(file)) FAIL_CHECK(one);
  }
}
