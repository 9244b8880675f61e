// The source tree for the structure tests: files of text with their paths relative to the root.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace dma::structure {

struct SourceFile {
  std::string path;  // "factors/arithmetic/product.h"
  std::vector<std::string> lines;
};

// An #include line: the name between the quotes or angle brackets, and the line number counted from 1.
struct Include {
  std::size_t line;
  std::string name;
  bool quoted;
};

// "factors" of "factors/arithmetic/product.h"; empty when there is no folder.
std::string_view top_folder(std::string_view path);

// "factors/arithmetic" of "factors/arithmetic/product.h".
std::string_view folder_of(std::string_view path);

std::vector<Include> includes_of(const SourceFile& file);

// Every .h and .cpp below the six folders of the project, sorted by path.
std::vector<SourceFile> read_sources();

// A folder below the six of the project: its number of files, and the folders that its files may include besides
// itself, each with everything below it: the last line of its README.md, or of tests/README.md for all tests.
struct Folder {
  std::string path;
  std::size_t files = 0;
  bool has_line = false;
  std::vector<std::string> may_include;
};

// Sorted by path.
std::vector<Folder> read_folders();

// The names at the top level: those git tracks, or, outside a repository, all but dot-files, build* and out.
std::vector<std::string> top_level_names();

}  // namespace dma::structure
