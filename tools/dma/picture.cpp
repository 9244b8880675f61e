#include "tools/dma/picture.h"

#include "engine/support/error.h"
#include "tools/dma/write_file.h"

namespace dma {

void check_picture(const std::filesystem::path& path) {
  const std::string ending = path.extension().string();
  if (ending != ".svg" && ending != ".png")
    fail("'{}' does not name a picture; a name that ends in .svg or .png is expected", path.string());
  check_writable(path);
}

std::string draw_picture(const plot::Figure& figure, const std::filesystem::path& path) {
  const auto stem = std::filesystem::path(path).replace_extension();
  const plot::Drawing drawing = plot::draw(figure, stem, {path.extension().string()});
  if (drawing.skipped.empty()) std::filesystem::remove(drawing.script);
  return drawing.skipped;
}

}  // namespace dma
