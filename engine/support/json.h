// JSON: its one type, and the one place where its text is parsed and written. The library's parser and writer take the
// compiler seconds in every file that calls them.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace dma {

using Json = nlohmann::ordered_json;  // members stay in the order in which they were set

enum class JsonEvent { object_start, object_end, array_start, array_end, key, value };

// Throws Json::parse_error for what is no JSON, Json::out_of_range for a number beyond the range of a double. `hear` is
// told what the parser meets, in the order of the text, with the name of a key; what it throws ends the parsing.
Json parse_json(std::string_view text, const std::function<void(JsonEvent, const std::string& key)>& hear = {});

// What becomes of text in the JSON: bytes that are not UTF-8 make json_text throw Json::type_error, or become U+FFFD;
// `ascii` also writes everything beyond ASCII as \u202e.
enum class JsonBytes { utf8, replaced, ascii };

// On one line, or with `indent` blanks more for each level.
std::string json_text(const Json& json, int indent = -1, JsonBytes bytes = JsonBytes::utf8);

// json.at(key) as a whole number: one that fits, never one made to fit. An Error otherwise.
std::uint64_t whole_up_to(std::uint64_t most, const Json& json, const std::string& key);
std::uint64_t whole_up_to(std::uint64_t most, const Json& json, std::size_t index);

template <class Whole, class Key>
Whole whole(const Json& json, const Key& key) {
  return static_cast<Whole>(whole_up_to(static_cast<std::uint64_t>(std::numeric_limits<Whole>::max()), json, key));
}

}  // namespace dma
