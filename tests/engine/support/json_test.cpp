#include "engine/support/json.h"

#include <bit>
#include <nlohmann/json.hpp>

#include "engine/support/fields.h"
#include "tests/oracles/solved.h"

namespace {

struct ListedCount {
  int count = 0;
};
struct Listed {
  std::vector<double> list;
  Eigen::MatrixXd matrix, lower;
  std::optional<double> maybe;
  ListedCount inner;
};
void list_fields(Fields& f, ListedCount& inner) { f("count", inner.count); }
void list_fields(Fields& f, Listed& e) {
  f("list", e.list);
  f("matrix", e.matrix);
  f.triangle("lower", e.lower);
  f("maybe", e.maybe);
  f("inner", e.inner);
}

}  // namespace

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

TEST_CASE("json: numbers keep every bit as text and as CBOR, infinities and NaN included") {
  for (const double value : {0.0, -0.0, 1.0 / 3, 5e-324, 1.7976931348623157e308, -2.5, 1e22, 123456789012345678.0,
                             std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()}) {
    const Json json = json_number(value);
    for (const Json& again : {parse_json(json_text(json)), json_from_cbor(cbor_of(json))})
      CHECK(std::bit_cast<std::uint64_t>(json_number(again)) == std::bit_cast<std::uint64_t>(value));
  }
  CHECK(std::isnan(json_number(parse_json(json_text(json_number(std::nan("")))))));
}

TEST_CASE("json: CBOR gives back what was written; what is cut short, deep or of unknown length is refused") {
  const Json json = {
      {"list", {1, -2, 2.5, nullptr, true, "é"}}, {"bytes", Json::binary({0, 255, 127})}, {"empty", Json::object()}};
  const std::string cbor = cbor_of(json);
  CHECK(json_from_cbor(cbor) == json);
  for (std::size_t size = 0; size < cbor.size(); ++size)
    CHECK_THROWS_AS(json_from_cbor(cbor.substr(0, size)), Json::parse_error);
  CHECK_THROWS_AS(json_from_cbor(cbor + "a"), Json::parse_error);
  for (const char open :
       {'\x81', '\x7f', '\x5f', '\x9f', '\xbf'})  // lists of one; pieces of text, bytes, lists, objects
    CHECK_THROWS_AS(json_from_cbor(std::string(1'000'000, open)), Error);
  CHECK_THROWS_WITH_AS(parse_json(std::string(1'000'000, '[')), "it is nested more than 100 deep", Error);
}

TEST_CASE("fields: one list writes and reads; what does not fit is refused") {
  Listed e;
  e.list = {1, 0.5};
  e.matrix = Eigen::MatrixXd{{1, 2, 3}, {4, 5, 6}};
  e.lower = Eigen::MatrixXd{{1, 0}, {2, 3}};
  e.inner.count = 7;
  Json json = json_from_cbor(cbor_of(written(e)));
  CHECK(!json.contains("maybe"));
  const Listed again = read_as<Listed>(json);
  CHECK(again.list == e.list);
  CHECK(again.matrix == e.matrix);
  CHECK(again.lower == e.lower);
  CHECK(again.inner.count == 7);
  CHECK(!again.maybe);
  json["maybe"] = 3.5;
  CHECK(read_as<Listed>(json).maybe == 3.5);
  const auto refuses = [&](const std::string& pointer, const Json& value) {
    Json other = json;
    other[Json::json_pointer(pointer)] = value;
    try {
      (void)read_as<Listed>(other);
    } catch (const Error&) {
      return true;
    } catch (const Json::exception&) {
      return true;
    }
    return false;
  };
  CHECK(!refuses("/inner/count", 8u));
  CHECK(refuses("/inner/count", -1));
  CHECK(refuses("/inner/count", 2.5));
  CHECK(refuses("/list", 3));
  CHECK(refuses("/matrix/rows", 4));
  CHECK(refuses("/matrix/rows", 0));
  CHECK(refuses("/matrix/numbers", Json::binary({1, 2, 3})));
  CHECK(refuses("/matrix/numbers", "text"));
  CHECK(refuses("/lower", packed(Eigen::VectorXd::Ones(2))));
}

namespace {

int comparisons = 0;

struct CountedName : std::string {
  using std::string::string;
  explicit CountedName(const std::string& text) : std::string(text) {}
  friend bool operator==(const CountedName& a, const CountedName& b) {
    ++comparisons;
    return static_cast<const std::string&>(a) == static_cast<const std::string&>(b);
  }
};

}  // namespace

TEST_CASE("json: a member is found by comparing few names, however many there are") {
  constexpr int kMembers = 20'000;
  JsonMembers<CountedName, int, std::less<>, std::allocator<std::pair<const CountedName, int>>> members;
  for (int i = 0; i < kMembers; ++i) members[CountedName(std::to_string(7919 * i))] = i;
  for (int i = 0; i < kMembers; ++i) REQUIRE(members.at(CountedName(std::to_string(7919 * i))) == i);
  CHECK(members.count(CountedName("x")) == 0);
  CHECK(comparisons < 10 * kMembers);  // a linear search takes kMembers^2
}

TEST_CASE("json: large objects hold what was set, in that order, after members were replaced and erased") {
  Json json;
  std::vector<std::string> names;
  for (int i = 0; i < 100; ++i) json[names.emplace_back(std::to_string(37 * i % 101))] = -1;
  for (int i = 0; i < 100; ++i) json[names[static_cast<std::size_t>(i)]] = i;
  CHECK(json.erase("37") == 1);
  CHECK(json.erase("37") == 0);
  names.erase(names.begin() + 1);
  json["last"] = 100, names.emplace_back("last");
  const Json copy = json;
  CHECK(copy == parse_json(json_text(json)));
  std::size_t i = 0;
  for (const auto& [name, value] : copy.items()) {
    CHECK(name == names.at(i++));
    CHECK(copy.at(name) == value);
  }
  CHECK(i == 100);
  CHECK_FALSE(copy.contains("37"));
  CHECK_THROWS_AS(copy.at("37"), Json::out_of_range);
  CHECK(copy["0"] == 0);
  CHECK(copy["74"] == 2);
  json.clear();
  CHECK_FALSE(json.contains("74"));
}

TEST_CASE("json: a whole number fits, or is refused with what stands there") {
  const Json json = parse_json(R"({"a": 255, "b": 256, "c": -1, "list": [2.0]})");
  CHECK(whole<std::uint8_t>(json, "a") == 255);
  CHECK_THROWS_WITH(whole<std::uint8_t>(json, "b"), "\"b\" is 256; a whole number of at least 0 is expected");
  CHECK_THROWS_WITH(whole<int>(json, "c"), "\"c\" is -1; a whole number of at least 0 is expected");
  CHECK_THROWS_WITH(whole<int>(json["list"], 0U), "\"0\" is 2.0; a whole number of at least 0 is expected");
}
