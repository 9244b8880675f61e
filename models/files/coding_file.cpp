#include "models/files/coding_file.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "engine/support/error.h"
#include "engine/support/json.h"

namespace dma {

namespace {

constexpr std::array<std::string_view, 5> kRuleKinds = {"number", "truth", "date", "category", "left_out"};
constexpr std::array<std::string_view, 3> kDateOrders = {"year", "day", "month"};

template <class Names>
std::size_t place_in(const Names& names, const Json& json) {
  const auto name = json.get<std::string>();
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) fail("'{}' is no way to read a column", name);
  return static_cast<std::size_t>(found - names.begin());
}

// What a rule of its kind has no use for is left out.
Json to_json(const ColumnRule& rule) {
  Json json = {{"name", rule.name}, {"kind", kRuleKinds[static_cast<std::size_t>(rule.kind)]}, {"made", rule.text()}};
  if (rule.mark != '.') json["decimal_mark"] = std::string(1, rule.mark);
  if (rule.kind == ColumnRule::Kind::date) {
    json["first"] = kDateOrders[static_cast<std::size_t>(rule.order)];
    json["first_day"] = json_number(rule.first_day);
    json["season"] = rule.season;
    json["week"] = rule.week;
    json["day"] = rule.day;
  }
  if (rule.kind == ColumnRule::Kind::category) {
    json["values"] = rule.values;
    json["has_rest"] = rule.has_rest;
  }
  if (!rule.why.empty()) json["why"] = rule.why;
  if (rule.missing > 0) json["missing"] = rule.missing;
  if (rule.strays > 0) json["strays"] = rule.strays;
  if (rule.marks_missing) json["marks_missing"] = true;
  if (rule.fill.empty()) return json;
  json["fill"] = Json::array();
  for (const double value : rule.fill) json["fill"].push_back(json_number(value));
  return json;
}

ColumnRule rule_from(const Json& json) {
  ColumnRule rule{.name = json.at("name").get<std::string>()};
  rule.kind = static_cast<ColumnRule::Kind>(place_in(kRuleKinds, json.at("kind")));
  if (const auto mark = json.value("decimal_mark", std::string(".")); mark.size() == 1) rule.mark = mark[0];
  if (rule.kind == ColumnRule::Kind::date) {
    rule.order = static_cast<DateOrder>(place_in(kDateOrders, json.at("first")));
    rule.first_day = json_number(json.at("first_day"));
    rule.season = json.at("season").get<bool>();
    rule.week = json.at("week").get<bool>();
    rule.day = json.at("day").get<bool>();
  }
  if (rule.kind == ColumnRule::Kind::category) {
    rule.values = json.at("values").get<std::vector<std::string>>();
    rule.has_rest = json.at("has_rest").get<bool>();
  }
  rule.why = json.value("why", std::string());
  if (json.contains("missing")) rule.missing = whole<std::size_t>(json, "missing");
  if (json.contains("strays")) rule.strays = whole<std::size_t>(json, "strays");
  rule.marks_missing = json.value("marks_missing", false);
  if (json.contains("fill"))
    for (const Json& value : json.at("fill")) rule.fill.push_back(json_number(value));
  return rule;
}

}  // namespace

Json to_json(const ColumnCoding& coding) {
  Json json = Json::array();
  for (const ColumnRule& rule : coding.rules) json.push_back(to_json(rule));
  return json;
}

ColumnCoding coding_from(const Json& file) {
  ColumnCoding coding;
  if (file.contains("columns"))
    for (const Json& rule : file.at("columns")) coding.rules.push_back(rule_from(rule));
  return coding;
}

}  // namespace dma
