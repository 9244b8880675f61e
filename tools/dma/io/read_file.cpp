#include "tools/dma/io/read_file.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <vector>

#include "engine/support/model_file.h"
#include "engine/support/text.h"

namespace dma {

std::string read_file(const std::filesystem::path& path, std::string_view expected, std::size_t limit,
                      std::string_view way_out) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) fail("'{}' is a folder; {} is expected", path.string(), expected);
  std::ifstream stream(path, std::ios::binary);
  if (!stream) fail("cannot read '{}': {}", path.string(), std::strerror(errno));
  std::string text;
  bool is_model = false;
  std::vector<char> part(1 << 16);
  while (stream.read(part.data(), static_cast<std::streamsize>(part.size())), stream.gcount() > 0) {
    const std::string_view found(part.data(), static_cast<std::size_t>(stream.gcount()));
    if (text.empty()) is_model = found.starts_with(kModelFileStart);
    if (!is_model && found.find('\0') != std::string_view::npos)
      fail("'{}' is not text: it has a byte 0; {} is expected", path.string(), expected);
    if (found.size() > limit - text.size())
      fail("'{}' is larger than {:.3g} MB; {} is expected, of no more{}", path.string(),
           static_cast<double>(limit) / 1e6, expected, way_out);
    text += found;
  }
  return text;
}

}  // namespace dma
