// Files appear whole or not at all.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace dma {

// Writes a file beside its final name, flushes it to the disk and renames it; makes missing folders, follows links and
// keeps the mode of an existing file. Devices and pipes are written directly. An Error names the file and leaves
// nothing behind. A process that is killed leaves the old file or the new one, and at worst a `.name.xxxxxx.part`
// beside it.
void write_file(const std::filesystem::path& path, std::string_view text);

// The same, or standard output if there is no path.
void write_or_print(const std::filesystem::path& path, std::string_view text);

// Throws the Error that write_file would throw, before hours of work are spent. Makes nothing.
void check_writable(const std::filesystem::path& path);

// True if both names lead to one regular file, or would if it were written.
bool is_same_file(const std::filesystem::path& one, const std::filesystem::path& other);

// A file and the option or argument that named it.
struct NamedFile {
  std::string option;
  std::filesystem::path path;  // empty: not given
};

// An Error if an output is an input or another output, if its folder is missing, or if it cannot be written.
void check_outputs(const std::vector<NamedFile>& outputs, const std::vector<NamedFile>& inputs);

}  // namespace dma
