// Pictures named by the user: fit.svg or fit.png.
#pragma once

#include <filesystem>

namespace dma {

// An Error unless the name, if there is one, ends in .svg or .png.
void check_picture(const std::filesystem::path& path);

}  // namespace dma
