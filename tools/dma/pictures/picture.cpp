#include "tools/dma/pictures/picture.h"

#include "engine/support/error.h"

namespace dma {

void check_picture(const std::filesystem::path& path) {
  const std::string ending = path.extension().string();
  if (!path.empty() && ending != ".svg" && ending != ".png")
    fail("'{}' does not name a picture; a name that ends in .svg or .png is expected", path.string());
}

}  // namespace dma
