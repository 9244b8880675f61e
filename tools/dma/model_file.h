// Model files on the disk.
#pragma once

#include <filesystem>

#include "models/bnn_file.h"

namespace dma {

SavedBnn load_bnn(const std::filesystem::path& path);

}  // namespace dma
