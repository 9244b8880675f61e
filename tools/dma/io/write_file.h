// Files appear whole or not at all.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace dma {

// A regular file is written beside its name, flushed to the disk and renamed; missing folders are made. Links are
// followed and an existing file's mode is kept; devices and pipes are written straight through. Throws Error, naming
// the file, and leaves nothing behind if that fails. Killed at any moment it leaves the old file or the new one under
// that name, and at worst a `.name.xxxxxx.part` beside it.
void write_file(const std::filesystem::path& path, std::string_view text);

// Throws the Error that write_file would throw, before hours of work are spent on what cannot be written. Makes
// nothing.
void check_writable(const std::filesystem::path& path);

// True if both names lead to one regular file, or would if it were written.
bool is_same_file(const std::filesystem::path& one, const std::filesystem::path& other);

// A file and the option or argument that named it.
struct NamedFile {
  std::string option;
  std::filesystem::path path;  // empty: not given
};

// An Error if an output is one of the files that are read, or another output, or in no folder that is there, or cannot
// be written.
void check_outputs(const std::vector<NamedFile>& outputs, const std::vector<NamedFile>& inputs);

}  // namespace dma
