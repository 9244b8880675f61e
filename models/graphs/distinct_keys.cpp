#include "models/graphs/distinct_keys.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "engine/support/json.h"
#include "engine/support/text.h"

namespace dma {

namespace {

// The open objects and lists at the parser's position.
class OpenPlaces {
 public:
  void hear(JsonEvent event, const std::string& key) {
    switch (event) {
      case JsonEvent::key:
        places_.back().at = key;
        if (!places_.back().keys.insert(key).second)
          fail("{}: the key appears twice in one object; remove one", pointer());
        break;
      case JsonEvent::object_start:
      case JsonEvent::array_start:
        next_element();
        places_.push_back({event == JsonEvent::array_start, 0, {}, {}});
        break;
      case JsonEvent::object_end:
      case JsonEvent::array_end:
        places_.pop_back();
        break;
      case JsonEvent::value:
        next_element();
    }
  }

 private:
  struct Place {
    bool is_list;
    std::size_t elements;
    std::string at;
    std::set<std::string> keys;
  };
  void next_element() {
    if (!places_.empty() && places_.back().is_list) places_.back().at = std::to_string(places_.back().elements++);
  }
  std::string pointer() const {
    std::string text;
    for (const Place& place : places_) text += "/" + escaped_key(place.at);
    return text;
  }

  std::vector<Place> places_;
};

}  // namespace

std::string escaped_key(const std::string& key) {
  std::string out;
  for (const char c : key) out += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  return out;
}

Json parse_graph_json(std::string_view text) {
  const auto line_of = [&](std::size_t byte) { return 1 + std::ranges::count(text.substr(0, byte), '\n'); };
  OpenPlaces places;
  try {
    return parse_json(text, [&](JsonEvent event, const std::string& key) { places.hear(event, key); });
  } catch (const Json::parse_error& error) {
    const std::string_view start = text.substr(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
    if (start.empty()) fail("the file is empty; a graph as JSON, BIF, UAI or g2o is expected");
    if (!start.starts_with('{'))
      fail("it is no graph: it begins with \"{}\"; JSON, which begins with {{, BIF, UAI or g2o is expected",
           start.substr(0, std::min<std::size_t>(start.find('\n'), 30)));
    fail("not JSON near line {}: look for a missing comma, quote or bracket", line_of(error.byte));
  } catch (const Json::out_of_range& error) {  // "... parsing '1e999'"
    const std::string_view what = error.what(), rest = what.substr(std::min(what.find('\''), what.size() - 1) + 1),
                           number = rest.substr(0, rest.find('\''));
    fail("line {}: '{}' is beyond the range of a double; a number below 1.8e308 in size is expected",
         line_of(text.find(number)), number);
  }
}

}  // namespace dma
