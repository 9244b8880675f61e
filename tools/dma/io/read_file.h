// A file as it is.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace dma {

// Throws Error, naming the file and what was expected of it ("a model file"), if it is a folder or cannot be read.
std::string read_file(const std::filesystem::path& path, std::string_view expected);

}  // namespace dma
