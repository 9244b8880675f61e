#include "tools/dma/io/read_file.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "engine/support/error.h"

namespace dma {

std::string read_file(const std::filesystem::path& path, std::string_view expected) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) fail("'{}' is a folder; {} is expected", path.string(), expected);
  std::ifstream stream(path, std::ios::binary);
  if (!stream) fail("cannot read '{}': {}", path.string(), std::strerror(errno));
  std::stringstream text;
  text << stream.rdbuf();
  return std::move(text).str();
}

}  // namespace dma
