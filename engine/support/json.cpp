#include "engine/support/json.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/support/text.h"

namespace dma {

namespace {

template <class Key>
std::uint64_t whole_at(std::uint64_t most, const Json& json, const Key& key) {
  const Json& value = json.at(key);
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > most)
    fail("\"{}\" is {}; a whole number of at least 0 is expected", key, json_text(value).substr(0, 40));
  return value.get<std::uint64_t>();
}

// The library's builder, which tells of what it is given and lets nothing nest deeper than anything of ours does:
// recursive functions walk through the result.
class Builder : public nlohmann::detail::json_sax_dom_parser<Json> {
  using Base = nlohmann::detail::json_sax_dom_parser<Json>;

 public:
  Builder(Json& built, const std::function<void(JsonEvent, const std::string&)>& hear) : Base(built), hear_(hear) {}

  bool null() { return tell(JsonEvent::value), Base::null(); }
  bool boolean(bool value) { return tell(JsonEvent::value), Base::boolean(value); }
  bool number_integer(std::int64_t value) { return tell(JsonEvent::value), Base::number_integer(value); }
  bool number_unsigned(std::uint64_t value) { return tell(JsonEvent::value), Base::number_unsigned(value); }
  bool number_float(double value, const std::string& text) {
    return tell(JsonEvent::value), Base::number_float(value, text);
  }
  bool string(std::string& value) { return tell(JsonEvent::value), Base::string(value); }
  bool binary(Json::binary_t& value) { return tell(JsonEvent::value), Base::binary(value); }
  bool key(std::string& name) { return tell(JsonEvent::key, name), Base::key(name); }
  bool start_object(std::size_t size) { return descend(), tell(JsonEvent::object_start), Base::start_object(size); }
  bool start_array(std::size_t size) { return descend(), tell(JsonEvent::array_start), Base::start_array(size); }
  bool end_object() { return --depth_, tell(JsonEvent::object_end), Base::end_object(); }
  bool end_array() { return --depth_, tell(JsonEvent::array_end), Base::end_array(); }

 private:
  void tell(JsonEvent event, const std::string& name = "") {
    if (hear_) hear_(event, name);
  }
  void descend() {
    constexpr std::size_t kDeepest = 100;  // ten times what a model needs
    if (++depth_ > kDeepest) fail("it is nested more than {} deep", kDeepest);
  }

  const std::function<void(JsonEvent, const std::string&)>& hear_;
  std::size_t depth_ = 0;
};

// CBOR has texts in pieces of unknown number, which the library reads recursively; cbor_of() writes none.
void expect_lengths(std::string_view cbor) {
  const auto byte = [&](std::size_t at) { return at < cbor.size() ? static_cast<unsigned char>(cbor[at]) : 0U; };
  for (std::size_t at = 0; at < cbor.size();) {
    const unsigned kind = byte(at) >> 5, code = byte(at) & 31;
    if (code > 27) fail("it has a length that is none at byte {}", at);
    std::uint64_t length = code;
    const std::size_t more = code < 24 ? 0 : std::size_t{1} << (code - 24);
    if (more > 0) length = 0;
    for (std::size_t i = 1; i <= more; ++i) length = (length << 8) | byte(at + i);
    at += 1 + more;
    constexpr unsigned kBytes = 2, kText = 3;
    if (kind == kBytes || kind == kText) at += std::min<std::uint64_t>(length, cbor.size());
  }
}

}  // namespace

Json parse_json(std::string_view text, const std::function<void(JsonEvent, const std::string&)>& hear) {
  Json json;
  Builder builder(json, hear);
  (void)Json::sax_parse(text, &builder);
  return json;
}

std::string cbor_of(const Json& json) {
  std::string bytes;
  Json::to_cbor(json, bytes);
  return bytes;
}

Json json_from_cbor(std::string_view bytes) {
  expect_lengths(bytes);
  Json json;
  const std::function<void(JsonEvent, const std::string&)> nobody;
  Builder builder(json, nobody);
  (void)Json::sax_parse(bytes, &builder, Json::input_format_t::cbor);
  return json;
}

std::string json_text(const Json& json, int indent, JsonBytes bytes) {
  return json.dump(indent, ' ', bytes == JsonBytes::ascii,
                   bytes == JsonBytes::utf8 ? Json::error_handler_t::strict : Json::error_handler_t::replace);
}

Json json_number(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

double json_number(const Json& json) {
  if (json.is_number()) return json.get<double>();
  if (json == "inf") return std::numeric_limits<double>::infinity();
  if (json == "-inf") return -std::numeric_limits<double>::infinity();
  if (json == "nan") return std::numeric_limits<double>::quiet_NaN();
  fail("{} stands where a number is expected", json_text(json, -1, JsonBytes::replaced).substr(0, 40));
}

std::uint64_t whole_up_to(std::uint64_t most, const Json& json, const std::string& key) {
  return whole_at(most, json, key);
}
std::uint64_t whole_up_to(std::uint64_t most, const Json& json, std::size_t index) {
  return whole_at(most, json, index);
}

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
