#include "engine/support/json.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "engine/support/error.h"

using namespace dma;

TEST_CASE("json: members keep their order, and text is written as it is asked for") {
  const std::string text = R"({"b":[1,2.5],"a":"é"})";
  const Json json = parse_json(text);
  CHECK(json_text(json) == text);
  CHECK(json_text(json["b"], 2) == "[\n  1,\n  2.5\n]");
  CHECK(json_text(json["a"], -1, JsonBytes::ascii) == R"("\u00e9")");
  const Json broken = std::string("a\xff");
  CHECK_THROWS_AS(json_text(broken), Json::type_error);
  CHECK(json_text(broken, -1, JsonBytes::replaced) == "\"a\xef\xbf\xbd\"");
  CHECK_THROWS_AS(parse_json("[1,"), Json::parse_error);
  CHECK_THROWS_AS(parse_json("[1e999]"), Json::out_of_range);
}

TEST_CASE("json: a listener hears every event in the order of the text, keys by name") {
  std::vector<std::pair<JsonEvent, std::string>> heard;
  const auto hear = [&](JsonEvent event, const std::string& key) { heard.emplace_back(event, key); };
  CHECK(parse_json(R"({"x": [true]})", hear) == parse_json(R"({"x": [true]})"));
  using enum JsonEvent;
  CHECK((heard ==
         std::vector<std::pair<JsonEvent, std::string>>{
             {object_start, ""}, {key, "x"}, {array_start, ""}, {value, ""}, {array_end, ""}, {object_end, ""}}));
  CHECK_THROWS_AS(parse_json("[]", [](JsonEvent, const std::string&) { fail("enough"); }), Error);
}

TEST_CASE("json: a whole number fits, or is refused with what stands there") {
  const Json json = parse_json(R"({"a": 255, "b": 256, "c": -1, "list": [2.0]})");
  CHECK(whole<std::uint8_t>(json, "a") == 255);
  CHECK_THROWS_WITH(whole<std::uint8_t>(json, "b"), "\"b\" is 256; a whole number of at least 0 is expected");
  CHECK_THROWS_WITH(whole<int>(json, "c"), "\"c\" is -1; a whole number of at least 0 is expected");
  CHECK_THROWS_WITH(whole<int>(json["list"], 0U), "\"0\" is 2.0; a whole number of at least 0 is expected");
}
