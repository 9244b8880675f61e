// A file as it is.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace dma {

// A text or a model file of at most `limit` bytes, from a file, a pipe or a device. Throws Error, naming the file and
// what was expected of it ("a model file"), if it is a folder, cannot be read, is larger or has a byte 0, which no text
// has. `way_out` says what to do about a file that is too large.
inline constexpr std::size_t kLargestFile = std::size_t{2} << 30;
std::string read_file(const std::filesystem::path& path, std::string_view expected, std::size_t limit = kLargestFile,
                      std::string_view way_out = "");

}  // namespace dma
