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

class Listener : public Json::json_sax_t {
 public:
  explicit Listener(const std::function<void(JsonEvent, const std::string&)>& hear) : hear_(hear) {}

  bool null() override { return value(); }
  bool boolean(bool) override { return value(); }
  bool number_integer(std::int64_t) override { return value(); }
  bool number_unsigned(std::uint64_t) override { return value(); }
  bool number_float(double, const std::string&) override { return value(); }
  bool string(std::string&) override { return value(); }
  bool binary(Json::binary_t&) override { return value(); }
  bool start_object(std::size_t) override { return heard(JsonEvent::object_start); }
  bool key(std::string& name) override { return heard(JsonEvent::key, name); }
  bool end_object() override { return heard(JsonEvent::object_end); }
  bool start_array(std::size_t) override { return heard(JsonEvent::array_start); }
  bool end_array() override { return heard(JsonEvent::array_end); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

 private:
  bool value() { return heard(JsonEvent::value); }
  bool heard(JsonEvent event, const std::string& name = "") {
    hear_(event, name);
    return true;
  }
  const std::function<void(JsonEvent, const std::string&)>& hear_;
};

}  // namespace

Json parse_json(std::string_view text, const std::function<void(JsonEvent, const std::string&)>& hear) {
  // A separate listener: the library's own parser callback looks at all members of an object after each.
  if (Listener listener(hear); hear) (void)Json::sax_parse(text, &listener);
  return Json::parse(text);
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
