#include "tools/dma/page/chart.h"

#include <fmt/format.h>

#include "tools/dma/page/html.h"
#include "tools/dma/pictures/svg.h"

namespace dma::page {

namespace {

std::string key(const plot::Panel& panel) {
  std::string out;
  if (panel.has_key)
    for (const plot::Series& s : panel.series)
      if (!s.title.empty())
        out += fmt::format("<span><i class=\"b-{}\"></i>{}</span>", plot::name_of(s.colour), escaped(s.title));
  return out.empty() ? "" : fmt::format("<div class=\"key\">{}</div>", out);
}

}  // namespace

std::string chart(const plot::Panel& panel) {
  constexpr double kWidth = 420, kHeight = 290;
  const std::string element = plot::panel_element(panel, kWidth, kHeight);
  const std::string picture =
      element.empty()
          ? "<p class=\"soft\">Nothing here can be drawn.</p>"
          : fmt::format("<svg class=\"chart\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">{}</svg>\n", kWidth,
                        kHeight, escaped(panel.title), element);
  return fmt::format("<h4>{}</h4>{}{}", escaped(panel.title), picture, key(panel));
}

std::string figure(const plot::Panel& panel, std::string_view caption) {
  return fmt::format("<figure>{}<figcaption>{}</figcaption></figure>\n", chart(panel), caption);
}

}  // namespace dma::page
