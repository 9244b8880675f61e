// Pictures named by the user: fit.svg or fit.png.
#pragma once

#include <filesystem>
#include <string>

#include "tools/plot/gnuplot.h"

namespace dma {

// An Error unless the name ends in .svg or .png and the file can be written: before the work begins.
void check_picture(const std::filesystem::path& path);

// Empty, or why there is no picture and what to do about it. The gnuplot script stays only in that case.
std::string draw_picture(const plot::Figure& figure, const std::filesystem::path& path);

}  // namespace dma
