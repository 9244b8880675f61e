// The shape of the tree: the names at the top level, and limits on files per folder, lines per file and columns per
// line.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "tests/structure/source_tree.h"

namespace {

using namespace dma::structure;

constexpr std::size_t kMostLines = 400;  // longer fails: split it
constexpr std::size_t kManyLines = 300;  // longer is listed
constexpr std::size_t kMostFiles = 40;   // more are hard to survey
constexpr std::ptrdiff_t kMostColumns = 120;

}  // namespace

TEST_CASE("tree: the top level holds the agreed names and no others") {
  std::set<std::string> agreed = {"engine", "factors", "schedules",      "models",
                                  "tests",  "tools",   "CMakeLists.txt", "README.md"};
  for (const std::string& name : top_level_names())
    CHECK_MESSAGE((agreed.erase(name) == 1 || name == "LICENSE" || name == "out"), "unexpected at the top: ", name);
  for (const std::string& name : agreed) FAIL_CHECK("missing at the top level: " << name);
}

// Exempt from the limit of columns: raw literals, which hold HTML, JSON or regular expressions, and the stated output
// of examples.
TEST_CASE("tree: no folder holds more than 40 files, no file of code 400 lines, no line 120 columns") {
  for (const Folder& folder : folders())
    CHECK_MESSAGE(folder.files <= kMostFiles, folder.path, " holds ", folder.files, " files; give it rooms");
  for (const SourceFile& file : sources()) {
    const std::size_t length = file.lines.size();
    if (length > kManyLines && length <= kMostLines) MESSAGE(file.path, " has ", length, " lines; consider splitting");
    CHECK_MESSAGE(length <= kMostLines, file.path, " has ", length, " lines; split it");
    for (std::size_t i = 0; i < length; ++i) {
      const Line& line = file.lines[i];
      if (line.is_raw || (file.path.starts_with("tools/examples/") && line.text.starts_with("//   "))) continue;
      const auto columns = std::ranges::count_if(line.text, [](char c) { return (c & 0xC0) != 0x80; });  // UTF-8
      CHECK_MESSAGE(columns <= kMostColumns, file.place(i + 1), columns, " columns; clang-format --lines=", i + 1, ":",
                    i + 1, " wraps it");
    }
  }
}

// A compiler does not detect two types of one name in two files: the linker keeps the functions of one for both.
TEST_CASE("tree: no two files give one name to two types of a namespace") {
  const std::regex space("(?:inline )?namespace ?([\\w:]*) ?\\{");
  const std::regex type("(?:struct|class|enum class) (\\w+)(?: final)?(?: : .*)? \\{.*");
  std::map<std::string, std::string> file_of;
  for (const SourceFile& file : sources()) {
    std::vector<std::string> spaces;
    for (const Line& line : file.lines) {
      const std::string& text = line.text;
      if (text.empty() || text.front() == ' ' || text.front() == '#' || text.front() == '/') continue;
      std::smatch part;
      if (std::regex_match(text, part, space)) {
        spaces.push_back(part[1].length() > 0 ? part[1].str() : file.path);  // a nameless namespace belongs to its file
      } else if (text.starts_with("}  // namespace") && !spaces.empty()) {
        spaces.pop_back();
      } else if (std::regex_match(text, part, type)) {
        std::string name = part[1];
        for (const std::string& one : spaces) name = one + "::" + name;
        const std::string& known = file_of.emplace(name, file.path).first->second;
        CHECK_MESSAGE(known == file.path, name, " is in ", known, " and in ", file.path);
      }
    }
  }
  CHECK(file_of.size() > 300);
}

// CMakeLists.txt relies on this when it chooses headers to compile alone.
TEST_CASE("tree: a header can be included twice, and its own .cpp includes it before anything else") {
  std::set<std::string> headers;
  for (const SourceFile& file : sources())
    if (file.path.ends_with(".h")) {
      headers.insert(file.path);
      CHECK_MESSAGE(std::ranges::find(file.lines, "#pragma once", &Line::text) != file.lines.end(), file.path,
                    " lacks #pragma once");
    }
  for (const SourceFile& file : sources()) {
    const std::string header = file.path.substr(0, file.path.rfind('.')) + ".h";
    if (!file.path.ends_with(".cpp") || !headers.contains(header)) continue;
    CHECK_MESSAGE((!file.includes.empty() && file.includes.front().name == header), file.path, " does not include ",
                  header, " first");
  }
}
