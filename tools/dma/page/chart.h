// A panel of a figure as an element of a page: colours follow the page's, marks say their values when pointed at.
#pragma once

#include <string>
#include <string_view>

#include "tools/dma/pictures/figure.h"

namespace dma::page {

// The heading is the panel's title; texts of the panel are text, the caption is HTML. Where no number can be drawn it
// says so.
std::string figure(const plot::Panel& panel, std::string_view caption);

}  // namespace dma::page
