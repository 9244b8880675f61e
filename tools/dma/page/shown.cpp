#include "tools/dma/page/shown.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/support/json.h"
#include "tools/dma/page/html.h"

namespace dma::report {

std::string four_digits(double value) {
  const double size = std::abs(value);
  return size >= 1000 && size < 1e6 ? fmt::format("{:.0f}", value) : fmt::format("{:.4g}", value);
}

std::string in_pointer(const std::string& key) {
  std::string text;
  for (const char c : key) text += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  return text;
}

std::vector<double> numbers_of(const Json& array) {
  std::vector<double> all;
  for (const Json& value : array) all.push_back(json_number(value));
  return all;
}

std::string Shown::element(std::string_view name, const std::string& pointer, double times,
                           const std::string& text) const {
  return fmt::format("<{} data-at=\"{}\"{}>{}</{}>", name, page::escaped(pointer),
                     times == 1 ? "" : fmt::format(" data-times=\"{}\"", times), page::escaped(text), name);
}

std::string Shown::number(const std::string& pointer) const {
  return element("span", pointer, 1, four_digits(json_number(at(pointer))));
}

std::string Shown::number_in_picture(const std::string& pointer) const {
  return element("tspan", pointer, 1, fmt::format("{:.3g}", json_number(at(pointer))));
}

std::string Shown::percent(const std::string& pointer, int decimals) const {
  return element("span", pointer, 100, fmt::format("{:.{}f} %", 100 * json_number(at(pointer)), decimals));
}

std::string Shown::whole_number(const std::string& pointer) const {
  const Json& value = at(pointer);  // not by way of a double, which would round a large seed
  return element("span", pointer, 1,
                 value.is_number_integer() ? json_text(value) : fmt::format("{:.0f}", json_number(value)));
}

}  // namespace dma::report
