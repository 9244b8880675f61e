// Pages whose text stands in an HTML file, with marks where numbers, texts and pictures of a JSON come in:
//
//   {{text /report/data/file}}  escaped. {{number P}} has four digits; {{percent P 1}}, {{count P}}: see Shown
//   {{each row /lines}} {{text row/0}} {{end}}   for every element of a list or an object; {{key row}} is its name
//   {{each row /lines 60}}                       for the first 60; {{more /lines 60}} says how many are left
//   {{if P}} {{end}}, {{unless P}} {{end}}       P is there and neither empty, null nor false
//   {{if P = word}}, {{if P < Q}}                Q is a number or a place; of a list its size counts
//   {{draw what P}}                              what the page's own function of that name makes of the place
//
// P is a JSON pointer, or begins with the name of an enclosing `each`. A value that is not there is left empty.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "tools/dma/page/shown.h"

namespace dma::report {

using Drawing = std::function<std::string(const Shown& shown, const std::string& pointer)>;
using Drawings = std::map<std::string, Drawing, std::less<>>;

std::string filled(std::string_view skeleton, const Json& json, const Drawings& drawings);

}  // namespace dma::report
