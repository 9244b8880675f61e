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

constexpr std::size_t kMostLines = 400;  // longer fails: split it
constexpr std::size_t kManyLines = 300;  // longer is listed
constexpr std::size_t kMostFiles = 40;   // more are hard to survey
constexpr std::size_t kMostColumns = 120;

}  // namespace

TEST_CASE("tree: the top level holds the agreed names and no others") {
  const std::set<std::string> agreed = {"engine", "factors", "schedules",      "models",
                                        "tests",  "tools",   "CMakeLists.txt", "README.md"};
  const auto names = dma::structure::top_level_names();
  for (const auto& name : names) {
    CHECK_MESSAGE((agreed.contains(name) || name == "LICENSE"), "unexpected at the top level: ", name);
  }
  for (const auto& name : agreed) {
    CHECK_MESSAGE(std::ranges::find(names, name) != names.end(), "missing at the top level: ", name);
  }
}

TEST_CASE("tree: no file of code is longer than 400 lines") {
  for (const auto& file : dma::structure::read_sources()) {
    const auto length = file.lines.size();
    if (length > kManyLines && length <= kMostLines) MESSAGE(file.path, " has ", length, " lines; consider splitting");
    CHECK_MESSAGE(length <= kMostLines, file.path, " has ", length, " lines; split it");
  }
}

// Raw strings are exempt: they contain HTML, JSON or regular expressions. So is the stated output of examples.
TEST_CASE("tree: no line of code is longer than 120 columns") {
  for (const auto& file : dma::structure::read_sources()) {
    bool is_raw = false;
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      const std::string& line = file.lines[i];
      const auto begins = line.rfind("R\""), ends = line.rfind(")\"");
      is_raw |= begins != std::string::npos;
      if (file.path.starts_with("tools/examples/") && line.starts_with("//   ")) continue;
      // Characters of UTF-8.
      const auto columns = std::ranges::count_if(line, [](char c) { return (c & 0xC0) != 0x80; });
      CHECK_MESSAGE((is_raw || columns <= static_cast<std::ptrdiff_t>(kMostColumns)), file.path, ":", i + 1, " has ",
                    columns, " columns; clang-format --lines=", i + 1, ":", i + 1, " wraps it");
      if (ends != std::string::npos && (begins == std::string::npos || ends > begins)) is_raw = false;
    }
  }
}

TEST_CASE("tree: no folder holds more than 40 files") {
  for (const auto& folder : dma::structure::read_folders())
    CHECK_MESSAGE(folder.files <= kMostFiles, folder.path, " holds ", folder.files, " files; give it rooms");
}

// A compiler does not detect two types of one name in two files: the linker keeps the functions of one for both.
TEST_CASE("tree: no two files give one name to two types of a namespace") {
  const std::regex space("(?:inline )?namespace ?([\\w:]*) ?\\{");
  const std::regex type("(?:struct|class|enum class) (\\w+)(?: final)?(?: : .*)? \\{.*");
  std::map<std::string, std::string> file_of;
  for (const auto& file : dma::structure::read_sources()) {
    std::vector<std::string> spaces;
    for (const std::string& line : file.lines) {
      if (line.empty() || line.front() == ' ' || line.front() == '#' || line.front() == '/') continue;
      std::smatch part;
      if (std::regex_match(line, part, space))
        spaces.push_back(part[1].length() > 0 ? part[1].str() : file.path);  // a nameless namespace belongs to its file
      else if (line.starts_with("}  // namespace") && !spaces.empty())
        spaces.pop_back();
      else if (std::regex_match(line, part, type)) {
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
  const auto files = dma::structure::read_sources();
  for (const auto& file : files) {
    if (file.path.ends_with(".h")) {
      CHECK_MESSAGE(std::ranges::find(file.lines, "#pragma once") != file.lines.end(), file.path,
                    " lacks #pragma once");
      continue;
    }
    const std::string header = file.path.substr(0, file.path.rfind('.')) + ".h";
    if (std::ranges::find(files, header, &dma::structure::SourceFile::path) == files.end()) continue;
    const auto includes = dma::structure::includes_of(file);
    CHECK_MESSAGE((!includes.empty() && includes.front().name == header), file.path, " does not include ", header,
                  " first");
  }
}
