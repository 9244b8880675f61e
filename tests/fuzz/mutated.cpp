#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <nlohmann/json.hpp>

#include "engine/support/fields.h"
#include "tests/fuzz/choices.h"
#include "tests/oracles/model_files.h"

namespace dma::fuzz {

namespace {

constexpr std::array<std::string_view, 48> kTroublesome = {
    "0",     "-0",    "1e400",  "-1e400", "1e308", "1e-320", "5e-324", "nan",  "NaN",  "inf",  "\"inf\"", "\"nan\"",
    "1.5",   "-1",    "1e0",    "00",     "0x1",   "1_000",  "1,5",    "+1",   "",     " ",    "\t",      "\n",
    "\r\n",  "\r",    "\"",     "\"\"",   "'",     "`",      "\\",     "\\u0000", "[",  "]",    "{",       "}",
    "null",  "true",  "false",  "4294967297", "18446744073709551616", "9223372036854775808", "2147483648",
    "\xff\xfe", "\xef\xbb\xbf", "\xf6", "\x1b[2J", "$(x)"};

bool is_number_character(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' || c == 'e';
}

void replace_number(std::string& text, Choices& choices) {
  const std::size_t from = choices.below(text.size());
  const auto begin = std::find_if(text.begin() + static_cast<std::ptrdiff_t>(from), text.end(), is_number_character);
  const auto end = std::find_if_not(begin, text.end(), is_number_character);
  if (begin == end) return;
  const std::string with =
      choices.one_in(2) ? std::string(choices.any_of(kTroublesome)) : fmt::format("{}", choices.number());
  text.replace(begin, end, with);
}

constexpr std::array kEdges = {0.0,    -0.0,   -1.0,   1.0,   2.0,    0.5, 3.0,          1e308,        -1e308,   1e150,
                               -1e200, 1e-320, 1e-200, 700.0, -800.0, 1e5, 2147483648.0, 4294967297.0, kInfinity};

// Every node below this one.
void collect(Json& json, std::vector<Json*>& nodes) {
  if (!json.is_structured()) return;
  for (Json& node : json) nodes.push_back(&node), collect(node, nodes);
}

void damage_text(Json& node, Choices& choices) {
  static constexpr std::string_view kTexts[] = {"",  "x",    "<script>bad()</script>", "\x1b[2J", "a/b~c\"&'",
                                                "y", "joint"};
  node = choices.any_of(kTexts);
}

void damage_numbers(Json& node, Choices& choices) {
  if (choices.one_in(8)) return node.get_binary().push_back(1);
  const Eigen::VectorXd before = unpacked(node);
  std::vector<double> numbers(before.begin(), before.end());
  if (numbers.empty() || choices.one_in(4)) numbers.push_back(choices.number());
  else if (choices.one_in(4)) numbers.pop_back();
  else if (choices.one_in(3)) std::ranges::fill(numbers, choices.any_of(kEdges));
  else choices.any_of(numbers) = choices.one_in(3) ? std::nan("") : choices.any_of(kEdges);
  node = packed(Eigen::Map<Eigen::VectorXd>(numbers.data(), static_cast<Eigen::Index>(numbers.size())));
}

void damage(Json& node, Choices& choices) {
  const double other = choices.one_in(2) ? choices.any_of(kEdges) : choices.number();
  if (choices.one_in(16)) node = nullptr;
  else if (node.is_boolean()) node = !node.get<bool>();
  else if (node.is_number_unsigned() && choices.one_in(2)) node = node.get<std::uint64_t>() + choices.between(1, 2);
  else if (node.is_number() && choices.one_in(4)) node = -node.get<double>();
  else if (node.is_number() && choices.one_in(4)) node = choices.bits() >> choices.below(64);
  else if (node.is_number()) node = std::isfinite(other) ? Json(other) : Json("inf");
  else if (node.is_string()) damage_text(node, choices);
  else if (node.is_binary()) damage_numbers(node, choices);
  else if (!node.empty() && choices.one_in(2))
    node.erase(std::next(node.begin(), static_cast<std::ptrdiff_t>(choices.below(node.size()))));
  else if (!node.empty() && node.is_array()) node.push_back(Json(node[choices.below(node.size())]));
  else node = choices.one_in(2) ? Json::array() : Json::object();
}

}  // namespace

std::string damaged(std::string_view model, Choices& choices) {
  Json json = oracle::json_in_model(model);
  for (std::size_t changes = choices.one_in(4) ? 3 : 1; changes > 0; --changes) {
    std::vector<Json*> nodes;
    collect(json, nodes);
    if (nodes.empty()) continue;
    Json& node = *choices.any_of(nodes);
    damage(node, choices);
  }
  return model_file(model_kind(model), json);
}

std::string mutated(std::string text, Choices& choices) {
  for (std::size_t changes = 1 + choices.below(choices.one_in(4) ? 8 : 2); changes > 0; --changes) {
    if (text.empty()) return std::string(choices.any_of(kTroublesome));
    const std::size_t at = choices.below(text.size()), length = 1 + choices.below(choices.one_in(4) ? 200 : 8);
    switch (choices.below(10)) {
      case 0: text[at] = static_cast<char>(choices.below(256)); break;
      case 1: text[at] = static_cast<char>(text[at] ^ (1 << choices.below(8))); break;
      case 2: text.erase(at, length); break;
      case 3: text.insert(at, text.substr(choices.below(text.size()), length)); break;
      case 4: text.insert(at, choices.any_of(kTroublesome)); break;
      case 5: text.resize(at); break;
      case 6: text.replace(at, length, text.substr(choices.below(text.size()), length)); break;
      default: replace_number(text, choices); break;
    }
  }
  return text;
}

}  // namespace dma::fuzz
