// A panel of a figure as an element of a page: colours follow the page's, marks say their values when pointed at.
#pragma once

#include <string>
#include <string_view>

#include "tools/dma/pictures/figure.h"

namespace dma::page {

// The title of the panel as a heading, its picture and its key. Texts of the panel are text. Where no number can be
// drawn it says so.
std::string chart(const plot::Panel& panel);

// The same as a figure with a caption, which is HTML.
std::string figure(const plot::Panel& panel, std::string_view caption);

}  // namespace dma::page
