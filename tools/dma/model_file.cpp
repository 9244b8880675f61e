#include "tools/dma/model_file.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "engine/support/error.h"

namespace dma {

SavedBnn load_bnn(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) fail("'{}' is a folder; a model file is expected", path.string());
  std::ifstream stream(path, std::ios::binary);
  if (!stream) fail("cannot read '{}': {}", path.string(), std::strerror(errno));
  std::stringstream text;
  text << stream.rdbuf();
  return bnn_from_text(text.view(), path.string());
}

}  // namespace dma
