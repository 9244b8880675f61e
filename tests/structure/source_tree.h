// The source tree for the structure tests, read once.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace dma::structure {

struct Line {
  std::string text;
  std::string code;                            // the text without comment and literals, each a blank
  std::string comment;                         // after "// "
  std::size_t comment_at = std::string::npos;  // column of "//"
  std::vector<std::string> strings;            // literals, raw ones excepted
  bool is_raw = false;                         // touches a raw literal
};

struct Include {
  std::size_t line;  // from 1
  std::string name;  // between the quotes or angle brackets
  bool quoted;
};

struct SourceFile {
  std::string path;  // "factors/arithmetic/product.h"
  std::vector<Line> lines;
  std::vector<Include> includes;

  SourceFile(std::string path_of_file, std::string_view text);
  std::string place(std::size_t line) const;  // "path:line: "
};

// Every .h and .cpp below the six folders of the project, sorted by path.
const std::vector<SourceFile>& sources();

// A folder below the six: its number of files, and the folders that its files may include besides itself, each with
// everything below it: the last line of its README.md, or of tests/README.md for all tests.
struct Folder {
  std::string path;
  std::size_t files = 0;
  bool has_line = false;
  std::vector<std::string> may_include;
};

const std::vector<Folder>& folders();  // sorted by path

std::string_view top_folder(std::string_view path);  // "factors" of "factors/arithmetic/product.h"
std::string_view folder_of(std::string_view path);   // "factors/arithmetic"

// The names at the top level that git tracks or, outside a repository, all but build*; dot-files excepted.
std::vector<std::string> top_level_names();

}  // namespace dma::structure
