#include "models/files/long_strings.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "engine/support/json.h"

using namespace dma;

TEST_CASE("long strings: parsed as the parser itself does, escapes, marks and keys included") {
  const std::string longer(5000, 'A'), escaped = longer + R"(\n\"\\)", marked = R"(\u00010)";
  for (const std::string& text :
       {R"({"a": ")" + longer + R"(", "b": [1, ")" + longer + R"(B", "short"], "c": null})",
        R"([")" + escaped + R"(", "x"])", R"({"a": ")" + longer + R"(", "b": ")" + marked + R"("})", std::string("[]"),
        std::string("3"), R"(")" + longer + "\xc3\xa9" + R"(")", std::string(R"("\\")")}) {
    CHECK(parse_long_strings(text) == parse_json(text));
  }
}

TEST_CASE("long strings: what is refused is refused at the same byte") {
  const std::string longer(5000, 'A');
  for (const std::string& text :
       {R"({"a": ")" + longer + R"(", "b": ]})", R"({"a": ")" + longer, R"({"a": ")" + longer + "\x02\"}",
        R"({"a": ")" + longer + R"("} more)", std::string(R"(["\)"), std::string()}) {
    std::size_t expected = 0, found = 0;
    try {
      expected = parse_json(text).size();
    } catch (const Json::parse_error& e) {
      expected = e.byte;
    }
    try {
      found = parse_long_strings(text).size();
    } catch (const Json::parse_error& e) {
      found = e.byte;
    }
    CAPTURE(text.substr(0, 20));
    CHECK(expected > 0);
    CHECK(found == expected);
  }
}
