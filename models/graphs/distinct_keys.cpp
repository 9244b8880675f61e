#include "models/graphs/distinct_keys.h"

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "engine/support/error.h"

namespace dma {

namespace {

// The objects and lists that are open where the parser stands.
class OpenPlaces {
 public:
  using Event = Json::parse_event_t;
  bool hear(Event event, const std::string& key) {
    switch (event) {
      case Event::key:
        places_.back().at = key;
        if (!places_.back().keys.insert(key).second)
          fail("{}: the key stands twice in one object; leave one of them out", pointer());
        break;
      case Event::object_start:
      case Event::array_start:
        next_element();
        places_.push_back({event == Event::array_start, 0, {}, {}});
        break;
      case Event::object_end:
      case Event::array_end:
        places_.pop_back();
        break;
      case Event::value:
        next_element();
    }
    return true;
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

Json parse_distinct(std::string_view text) {
  OpenPlaces places;
  return Json::parse(text, [&](int, Json::parse_event_t event, Json& parsed) {
    return places.hear(event, event == Json::parse_event_t::key ? parsed.get<std::string>() : "");
  });
}

}  // namespace dma
