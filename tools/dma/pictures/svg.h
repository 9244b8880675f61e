// The one writer of pictures: a panel as an element of a page, a figure as a file of its own. Elements carry classes
// (s-blue strokes, f-blue fills, ...); a page has a style for them that follows light and dark, a file brings its own.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tools/dma/pictures/figure.h"

namespace dma::plot {

// Any text as the content of an element or of a quoted attribute.
std::string escaped(std::string_view text);

// The first characters, and an ellipsis where that is not all.
std::string shortened(std::string_view text, std::size_t most);

std::string_view name_of(Colour colour);

// Numbers on a linear axis: multiples of 1, 2 or 5 times a power of ten within [low, high], about `count` of them.
std::vector<double> ticks(double low, double high, int count);

// Axes and marks without title and key; empty where no number can be drawn. An Error if a series has columns
// of different lengths.
std::string panel_element(const Panel& panel, double width, double height);

// A whole file.
std::string svg(const Figure& figure);

// An Error unless the name, if there is one, ends in .svg.
void check_picture(const std::filesystem::path& path);

void draw_picture(const Figure& figure, const std::filesystem::path& path);

}  // namespace dma::plot
