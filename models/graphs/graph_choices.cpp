#include "models/graphs/graph_choices.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "engine/support/text.h"

namespace dma {

namespace {

using Names = std::map<std::string, double, std::less<>>;

// sum = product {+|- product}, product = factor {*|/ factor}, factor = number | name | ( sum ) | - factor.
class ChosenNumber {
 public:
  ChosenNumber(std::string_view text, const Names& names) : whole_(text), rest_(text), names_(names) {}
  double value() {
    const double found = sum();
    if (!rest_.empty()) refuse();
    return found;
  }

 private:
  [[noreturn]] void refuse() const {
    std::vector<std::string> known;
    for (const auto& [name, value] : names_) known.push_back(name);
    fail("'{}' is no number and no expression of the choices at '{}'{}", whole_, rest_,
         suggestion(std::string(rest_), known));
  }
  bool take(char sign) {
    skip();
    if (rest_.empty() || rest_[0] != sign) return false;
    rest_.remove_prefix(1);
    skip();
    return true;
  }
  void skip() { rest_.remove_prefix(std::min(rest_.find_first_not_of(' '), rest_.size())); }
  double sum() {
    double left = product();
    for (;;)
      if (take('+'))
        left += product();
      else if (take('-'))
        left -= product();
      else
        return left;
  }
  double product() {
    double left = factor();
    for (;;)
      if (take('*'))
        left *= factor();
      else if (take('/'))
        left /= factor();
      else
        return left;
  }
  double factor() {
    constexpr int kDeepest = 100;  // it is called anew for each
    if (++depth_ > kDeepest) fail("an expression of the choices is nested more than {} deep", kDeepest);
    const double found = take('-') ? -factor() : take('(') ? inside() : single();
    --depth_;
    return found;
  }
  double inside() {
    const double found = sum();
    if (!take(')')) refuse();
    return found;
  }
  double single() {
    skip();
    const auto is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
    if (!rest_.empty() && (is_digit(rest_[0]) || rest_[0] == '.')) {  // infinity is no part of an expression
      double number = 0;
      const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number);
      if (error != std::errc()) refuse();
      rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
      skip();
      return number;
    }
    const auto is_letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
    const auto length = static_cast<std::size_t>(std::ranges::find_if_not(rest_, is_letter) - rest_.begin());
    const auto found = names_.find(rest_.substr(0, length));
    if (found == names_.end()) refuse();
    rest_.remove_prefix(length);
    skip();
    return found->second;
  }

  std::string_view whole_, rest_;
  const Names& names_;
  int depth_ = 0;
};

// Calls use(name, list) for every entry of one kind of choice.
template <class Use>
void each_list(const Json& choices, const char* kind, const Use& use) {
  if (!choices.contains(kind)) return;
  const std::string where = std::string("/choices/") + kind;
  if (!choices.at(kind).is_object()) fail("{}: an object with a list of numbers per name is expected", where);
  for (const auto& [name, list] : choices.at(kind).items()) {
    if (!list.is_array() || list.empty()) fail("{}/{}: a list of numbers is expected", where, name);
    use(name, list, where + "/" + name);
  }
}

void replace(Json& value, const Names& names, const std::string& where) {
  if (value.is_array())
    for (std::size_t i = 0; i < value.size(); ++i) replace(value[i], names, where);
  if (!value.is_string()) return;
  const std::string text = value.get<std::string>();
  if (text == "inf" || text == "-inf" || text == "nan") return;
  try {
    value = ChosenNumber(text, names).value();
  } catch (const Error& e) {
    fail("{}: {}", where, e.what());
  }
}

}  // namespace

GraphChoices graph_choices(const Json& json, std::string_view text) {
  GraphChoices all;
  if (!json.contains("choices")) return all;
  const Json& choices = json.at("choices");
  if (!choices.is_object()) fail("/choices: an object is expected");
  for (const auto& [key, value] : choices.items())
    if (key != "sizes" && key != "smoothing")
      fail("/choices: there is no key '{}' here{}", key,
           suggestion(key, std::vector<std::string>{"sizes", "smoothing"}));
  constexpr double kMostSize = 100'000;
  each_list(choices, "sizes", [&](const std::string& name, const Json& list, const std::string& where) {
    if (!all.sizes.empty() && all.sizes.size() != list.size())
      fail("{}: {} sizes are given, but {} of '{}', which are tried together; give as many", where, list.size(),
           all.sizes.size(), all.size_names[0]);
    all.sizes.resize(list.size());
    all.size_names.push_back(name);
    for (std::size_t i = 0; i < list.size(); ++i) {
      const double size = list[i].is_number() ? list[i].get<double>() : 0;
      if (!(size >= 1 && size <= kMostSize && size == std::floor(size)))
        fail("{}: {} is found; a whole number from 1 to {} is expected", where, json_text(list[i]), kMostSize);
      all.sizes[i].push_back(static_cast<std::size_t>(size));
    }
  });
  each_list(choices, "smoothing", [&](const std::string& name, const Json& list, const std::string& where) {
    if (!all.smoothing_name.empty()) fail("{}: there is another one, '{}'; one is chosen", where, all.smoothing_name);
    if (std::ranges::find(all.size_names, name) != all.size_names.end())
      fail("{}: there is a size of this name; give it another one", where);
    all.smoothing_name = name;
    for (const Json& one : list) {
      if (!one.is_number() || !(one.get<double>() >= 0))
        fail("{}: {} is found; a number of 0 or more is expected", where, json_text(one));
      all.smoothings.push_back(one.get<double>());
    }
  });
  all.text = text;
  return all;
}

Json with_choices(Json json, const GraphChoices& choices, const std::vector<std::size_t>& sizes, double smoothing) {
  if (sizes.size() != choices.size_names.size())
    fail("{} sizes are chosen, but the graph leaves {} open", sizes.size(), choices.size_names.size());
  Names names;
  for (std::size_t i = 0; i < sizes.size(); ++i) names[choices.size_names[i]] = static_cast<double>(sizes[i]);
  if (!choices.smoothing_name.empty()) names[choices.smoothing_name] = smoothing;
  Json fixed = Json::object();
  for (const auto& [key, value] : json.items())
    if (key != "choices") fixed[key] = value;
  if (fixed.contains("variables") && fixed["variables"].is_object())
    for (const auto& [name, variable] : json.at("variables").items())
      if (variable.is_object() && variable.contains("size"))
        replace(fixed["variables"][name]["size"], names, "/variables/" + name + "/size");
  if (fixed.contains("factors") && fixed["factors"].is_array())
    for (std::size_t i = 0; i < fixed["factors"].size(); ++i) {
      Json& factor = fixed["factors"][i];
      if (!factor.is_object() || !factor.contains("parameters") || !factor["parameters"].is_object()) continue;
      for (const auto& [name, value] : json.at("factors")[i].at("parameters").items())
        replace(factor["parameters"][name], names, "/factors/" + std::to_string(i) + "/parameters/" + name);
    }
  return fixed;
}

}  // namespace dma
