// Reads a whole file.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace dma {

// Reads a text or a model file of at most `limit` bytes, from a file, a pipe or a device. An Error names the file and
// the expected contents ("a model file") if it is a folder, cannot be read, is larger, or is no text because of a byte
// 0. `way_out` is the repair for a file that is too large.
inline constexpr std::size_t kLargestFile = std::size_t{2} << 30;
std::string read_file(const std::filesystem::path& path, std::string_view expected, std::size_t limit = kLargestFile,
                      std::string_view way_out = "");

}  // namespace dma
