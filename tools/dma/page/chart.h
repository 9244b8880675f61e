// A panel of a figure as an element of a page: colours follow the page's, marks say their values when pointed at.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/dma/pictures/gnuplot.h"

namespace dma::page {

// Numbers on axes: multiples of 1, 2 or 5 times a power of ten within [low, high], about `count` of them.
std::vector<double> ticks(double low, double high, int count);

// The first characters, and an ellipsis where that is not all.
std::string shortened(std::string_view text, std::size_t most);

std::string_view name_of(plot::Colour colour);  // of the page's classes: f-blue fills, s-blue strokes

// The heading is the panel's title; texts of the panel are text, the caption is HTML. Linear axes; lines, points, bands
// and bars. Where no number can be drawn it says so.
std::string figure(const plot::Panel& panel, std::string_view caption);

}  // namespace dma::page
