// Files appear whole or not at all.
#pragma once

#include <filesystem>
#include <string_view>

namespace dma {

// Writes beside the final name, flushes to the disk, renames; makes missing folders. Throws Error, naming the file, and
// leaves nothing behind if that fails. Killed at any moment it leaves the old file or the new one under that name.
void write_file(const std::filesystem::path& path, std::string_view text);

// Throws the Error that write_file would throw, before hours of work are spent on what cannot be written.
void check_writable(const std::filesystem::path& path);

}  // namespace dma
