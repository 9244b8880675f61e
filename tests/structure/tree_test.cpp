// The shape of the tree: what lies at the top level, and how long a file may grow.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>

#include "tests/structure/source_tree.h"

namespace {

constexpr std::size_t kMostLines = 400;  // longer fails: it holds two subjects
constexpr std::size_t kManyLines = 300;  // longer is listed

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

// What CMakeLists.txt leaves out of the headers compiled alone rests on this.
TEST_CASE("tree: a header can be included twice, and its own .cpp includes it before anything else") {
  const auto files = dma::structure::read_sources();
  for (const auto& file : files) {
    if (file.path.ends_with(".h")) {
      CHECK_MESSAGE(std::ranges::find(file.lines, "#pragma once") != file.lines.end(), file.path, " lacks #pragma once");
      continue;
    }
    const std::string header = file.path.substr(0, file.path.rfind('.')) + ".h";
    if (std::ranges::find(files, header, &dma::structure::SourceFile::path) == files.end()) continue;
    const auto includes = dma::structure::includes_of(file);
    CHECK_MESSAGE((!includes.empty() && includes.front().name == header), file.path, " does not include ", header, " first");
  }
}
