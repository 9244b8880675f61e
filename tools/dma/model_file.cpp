#include "tools/dma/model_file.h"

#include "tools/dma/read_file.h"

namespace dma {

SavedBnn load_bnn(const std::filesystem::path& path) {
  return bnn_from_text(read_file(path, "a model file"), path.string());
}

}  // namespace dma
