#include "models/files/readable_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/support/text.h"

namespace dma {

namespace {

bool fits_one_line(const Json& json) {
  return std::ranges::none_of(json, [](const Json& element) { return element.is_structured() && !element.empty(); });
}

// Names of files may be of any encoding; JSON is UTF-8. What a terminal should not get is written as \u202e.
std::string text_of(const Json& json) {
  std::string text = json_text(json, -1, JsonBytes::replaced);
  return is_plain_text(text) ? text : json_text(json, -1, JsonBytes::ascii);
}

void write(const Json& json, std::size_t depth, std::string& out) {
  if (!json.is_structured() || json.empty() || (json.is_array() && fits_one_line(json))) {
    out += text_of(json);
    return;
  }
  const std::string indent(2 * (depth + 1), ' ');
  const char* separator = "\n";
  out += json.is_array() ? "[" : "{";
  for (const auto& [key, value] : json.items()) {
    out += separator + indent;
    if (json.is_object()) out += text_of(key) + ": ";
    write(value, depth + 1, out);
    separator = ",\n";
  }
  out += "\n" + std::string(2 * depth, ' ') + (json.is_array() ? "]" : "}");
}

}  // namespace

std::string readable(const Json& json) {
  std::string out;
  write(json, 0, out);
  return out += '\n';
}

}  // namespace dma
