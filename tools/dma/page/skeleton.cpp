#include "tools/dma/page/skeleton.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <sstream>
#include <vector>

#include "tools/dma/page/html.h"

namespace dma::report {

namespace {

using Words = std::vector<std::string>;

Words words_of(std::string_view mark) {
  std::istringstream stream{std::string(mark)};
  return {std::istream_iterator<std::string>(stream), {}};
}

class Filling {
 public:
  Filling(const Json& json, const Drawings& drawings) : shown_(json), drawings_(drawings) {}

  // The text up to the mark that ends it, which is taken off `rest` too. Unwanted parts are only skipped.
  std::string block(std::string_view& rest, bool is_wanted) {
    std::string out;
    while (true) {
      const auto begin = std::min(rest.find("{{"), rest.size());
      if (is_wanted) out += rest.substr(0, begin);
      rest.remove_prefix(begin);
      if (rest.empty()) return out;
      const auto end = rest.find("}}");
      const Words words = words_of(rest.substr(2, end - 2));
      rest.remove_prefix(end + 2);
      if (words[0] == "end") return out;
      if (words[0] == "each")
        out += each(words, rest, is_wanted);
      else if (words[0] == "if")
        out += block(rest, is_wanted && holds(words));
      else if (words[0] == "unless")
        out += block(rest, is_wanted && !holds(words));
      else if (is_wanted)
        out += value(words);
    }
  }

 private:
  std::string each(const Words& words, std::string_view& rest, bool is_wanted) {
    std::string out;
    const std::string list = is_wanted ? place(words[2]) : "";
    if (is_wanted && shown_.has(list)) {
      const std::size_t most = words.size() > 3 ? std::stoul(words[3]) : std::string::npos;
      std::size_t count = 0;
      for (const auto& [key, element] : shown_.at(list).items()) {
        if (count++ == most) break;
        bound_[words[1]] = list + "/" + in_pointer(key);
        std::string_view again = rest;
        out += block(again, true);
      }
    }
    block(rest, false);
    return out;
  }

  std::string place(const std::string& path) const {
    const std::size_t slash = std::min(path.find('/'), path.size());
    return slash == 0 ? path : bound_.at(path.substr(0, slash)) + path.substr(slash);
  }

  bool holds(const Words& words) const {
    if (words.size() > 2 && words[2] == "<") return size_of(words[1]) < size_of(words[3]);
    const std::string pointer = place(words[1]);
    if (!shown_.has(pointer)) return false;
    const Json& json = shown_.at(pointer);
    if (words.size() > 2) return json == words[3];
    return !(json.is_null() || json == false || json == "" || (json.is_structured() && json.empty()));
  }

  double size_of(const std::string& word) const {
    if (std::isdigit(static_cast<unsigned char>(word[0]))) return std::stod(word);
    const Json& json = shown_.at(place(word));
    return json.is_structured() ? static_cast<double>(json.size()) : json_number(json);
  }

  std::string value(const Words& words) const {
    if (words[0] == "draw") return drawings_.at(words[1])(shown_, words.size() > 2 ? place(words[2]) : "");
    const std::string pointer = place(words[1]);
    if (!shown_.has(pointer)) return "";
    if (words[0] == "number") return shown_.number(pointer);
    if (words[0] == "count") return shown_.whole_number(pointer);
    if (words[0] == "percent") return shown_.percent(pointer, std::stoi(words[2]));
    if (words[0] == "text") return page::escaped(shown_.at(pointer).get<std::string>());
    if (words[0] == "key") return page::escaped(with_spaces(pointer.substr(pointer.rfind('/') + 1)));
    const std::size_t most = std::stoul(words[2]), all = shown_.at(pointer).size();  // more
    return all <= most ? "" : fmt::format("<p class=\"soft\">and {} more</p>\n", all - most);
  }

  static std::string with_spaces(std::string text) {
    std::ranges::replace(text, '_', ' ');
    return text;
  }

  Shown shown_;
  const Drawings& drawings_;
  std::map<std::string, std::string> bound_;  // the places of the elements that enclosing lists have come to
};

}  // namespace

std::string filled(std::string_view skeleton, const Json& json, const Drawings& drawings) {
  return Filling(json, drawings).block(skeleton, true);
}

}  // namespace dma::report
