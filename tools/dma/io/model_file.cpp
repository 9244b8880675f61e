#include "tools/dma/io/model_file.h"

#include "factors/standard_registry.h"
#include "tools/dma/io/read_file.h"

namespace dma {

SavedBnn load_bnn(const std::filesystem::path& path) {
  return bnn_from_text(read_file(path, "a model file"), path.string());
}

std::variant<SavedBnn, SavedClassifier, GraphModel> load_model(const std::filesystem::path& path) {
  const std::string text = read_file(path, "a model file");
  if (is_graph_model(text)) return graph_model_from(text, path.string(), standard_registry());
  if (is_classifier_text(text)) return classifier_from_text(text, path.string());
  return bnn_from_text(text, path.string());
}

}  // namespace dma
