// Pages that need nothing but themselves: text made safe, tables, the frame with its styles. They load nothing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/support/json.h"
#include "tools/dma/pictures/svg.h"

namespace dma::page {

using plot::escaped;

// Our own texts, with Markdown's marks: `code` and *emphasis*.
std::string prose(std::string_view text);

// Cells are HTML; so is the caption.
struct Table {
  std::string caption = {};
  std::vector<std::string> columns = {};  // none: no head
  std::vector<std::vector<std::string>> rows = {};
  std::string css_class = {};
};
std::string html(const Table& table);

// A large number with what it is; both are HTML.
std::string card(std::string_view number, std::string_view what);

// Data for scripts and programs, as an element that is not shown: nothing in it ends the element.
std::string json_element(std::string_view id, const Json& json);

// A whole document, document.html, which a browser does not let load anything; `title` is text, `body` HTML. What is
// pointed at says its value.
std::string document(std::string_view title, std::string_view body);

}  // namespace dma::page
