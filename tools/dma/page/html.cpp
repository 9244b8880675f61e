#include "tools/dma/page/html.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace dma::page {

std::string prose(std::string_view text) {
  std::string out;
  bool code = false, emphasis = false;
  for (const char c : escaped(text)) {
    if (c == '`')
      out += code ? "</code>" : "<code>", code = !code;
    else if (c == '*' && !code)
      out += emphasis ? "</em>" : "<em>", emphasis = !emphasis;
    else
      out += c;
  }
  return out;
}

std::string html(const Table& table) {
  std::string text = table.css_class.empty() ? "<div class=\"wide\"><table>"
                                             : fmt::format("<div class=\"wide\"><table class=\"{}\">", table.css_class);
  if (!table.caption.empty()) text += fmt::format("<caption>{}</caption>", table.caption);
  if (!table.columns.empty()) {
    text += "<thead><tr>";
    for (const std::string& column : table.columns) text += fmt::format("<th>{}</th>", column);
    text += "</tr></thead>\n";
  }
  text += "<tbody>";
  for (const auto& row : table.rows) {
    text += "<tr>";
    for (const std::string& cell : row) text += fmt::format("<td>{}</td>", cell);
    text += "</tr>\n";
  }
  return text + "</tbody></table></div>\n";
}

std::string card(std::string_view number, std::string_view what) {
  return fmt::format("<div class=\"card\"><b>{}</b><span>{}</span></div>\n", number, what);
}

// In JSON a < stands inside texts only, where its number means the same.
std::string json_element(std::string_view id, const Json& json) {
  std::string text = fmt::format("<script type=\"application/json\" id=\"{}\">\n", escaped(id));
  for (const char c : readable(json)) {
    if (c == '<')
      text += "\\u003c";
    else
      text += c;
  }
  return text + "</script>\n";
}

std::string document(std::string_view title, std::string_view body) {
  constexpr std::string_view kDocument =
#include <document.html>
      , kTitle = "{{title}}", kBody = "{{body}}";
  constexpr std::size_t at_title = kDocument.find(kTitle), at_body = kDocument.find(kBody);
  constexpr std::size_t after_title = at_title + kTitle.size();
  return fmt::format("{}{}{}{}{}", kDocument.substr(0, at_title), escaped(title),
                     kDocument.substr(after_title, at_body - after_title), body,
                     kDocument.substr(at_body + kBody.size()));
}

}  // namespace dma::page
