#include "engine/support/json.h"

#include <nlohmann/json.hpp>

#include "engine/support/error.h"

namespace dma {

namespace {

template <class Key>
std::uint64_t whole_at(std::uint64_t most, const Json& json, const Key& key) {
  const Json& value = json.at(key);
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > most)
    fail("\"{}\" is {}; a whole number of at least 0 is expected", key, json_text(value).substr(0, 40));
  return value.get<std::uint64_t>();
}

}  // namespace

Json parse_json(std::string_view text, const std::function<void(JsonEvent, const std::string&)>& hear) {
  if (!hear) return Json::parse(text);
  using Event = Json::parse_event_t;  // the library's, in the order of ours
  static_assert(static_cast<int>(Event::object_start) == static_cast<int>(JsonEvent::object_start) &&
                static_cast<int>(Event::value) == static_cast<int>(JsonEvent::value));
  return Json::parse(text, [&](int, Event event, Json& parsed) {
    hear(static_cast<JsonEvent>(event), event == Event::key ? parsed.get_ref<const std::string&>() : "");
    return true;
  });
}

std::string json_text(const Json& json, int indent, JsonBytes bytes) {
  return json.dump(indent, ' ', bytes == JsonBytes::ascii,
                   bytes == JsonBytes::utf8 ? Json::error_handler_t::strict : Json::error_handler_t::replace);
}

std::uint64_t whole_up_to(std::uint64_t most, const Json& json, const std::string& key) {
  return whole_at(most, json, key);
}
std::uint64_t whole_up_to(std::uint64_t most, const Json& json, std::size_t index) {
  return whole_at(most, json, index);
}

}  // namespace dma
