// Model files on the disk.
#pragma once

#include <filesystem>
#include <variant>

#include "models/files/bnn_file.h"
#include "models/files/classifier_file.h"
#include "models/graphs/graph_model.h"

namespace dma {

SavedBnn load_bnn(const std::filesystem::path& path);
// Whichever it is.
std::variant<SavedBnn, SavedClassifier, GraphModel> load_model(const std::filesystem::path& path);

}  // namespace dma
