#include "models/files/long_strings.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <vector>

#include "engine/support/json.h"

namespace dma {

namespace {

constexpr std::size_t kLong = 1000;
constexpr char kMark = '\x01';  // begins what stands for a long string; no text of ours holds it
constexpr std::string_view kWrittenMark = "\\u0001";

struct Shortened {
  std::string text;
  std::vector<std::string_view> cut;
  struct Place {
    std::size_t after, removed;  // bytes of the shortened text up to here; bytes that are missing there
  };
  std::vector<Place> places;
  bool has_mark = false;  // of its own

  std::size_t original(std::size_t byte) const {
    std::size_t removed = 0;
    for (const Place& place : places)
      if (place.after <= byte) removed += place.removed;
    return byte + removed;
  }
};

// What a parser would refuse, or read as something else, stays in its sight.
bool is_plain(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~' && c != '\\'; });
}

Shortened shortened(std::string_view text) {
  Shortened result;
  const auto keep = [&](std::size_t begin, std::size_t end) {
    const std::string_view part = text.substr(begin, end - begin);
    result.has_mark = result.has_mark || part.find(kWrittenMark) != part.npos;
    result.text += part;
  };
  std::size_t done = 0;
  for (std::size_t quote = text.find('"'); quote != text.npos; quote = text.find('"', done)) {
    const std::size_t end = end_of_string(text, quote);
    const std::string_view inside = text.substr(quote + 1, end - std::min(end, quote + 2));
    const bool closed = end >= quote + 2 && text[end - 1] == '"';
    if (!closed || inside.size() < kLong || !is_plain(inside)) {
      keep(done, end);
    } else {
      keep(done, quote + 1);
      const std::string mark = fmt::format("{}{}\"", kWrittenMark, result.cut.size());
      result.text += mark;
      result.places.push_back({result.text.size(), inside.size() + 1 - mark.size()});
      result.cut.push_back(inside);
    }
    done = end;
  }
  keep(done, text.size());
  return result;
}

void put_back(Json& json, const std::vector<std::string_view>& cut) {
  if (json.is_structured()) {
    for (Json& part : json) put_back(part, cut);
    return;
  }
  if (!json.is_string()) return;
  auto& text = json.get_ref<std::string&>();
  if (text.empty() || text[0] != kMark) return;
  std::size_t index = cut.size();
  std::from_chars(text.data() + 1, text.data() + text.size(), index);
  text.assign(cut.at(index));
}

}  // namespace

std::size_t end_of_string(std::string_view text, std::size_t begin) {
  std::size_t from = begin + 1;
  while (true) {
    const std::size_t quote = text.find('"', from);
    const std::size_t escape = text.substr(0, std::min(quote, text.size())).find('\\', from);
    if (escape == text.npos) return quote == text.npos ? text.size() : quote + 1;
    from = escape + 2;  // whatever is escaped does not end it
    if (from >= text.size()) return text.size();
  }
}

Json parse_long_strings(std::string_view text) {
  const Shortened rest = shortened(text);
  if (rest.has_mark) return parse_json(text);
  try {
    Json json = parse_json(rest.text);
    put_back(json, rest.cut);
    return json;
  } catch (const Json::parse_error& e) {
    throw Json::parse_error::create(e.id, rest.original(e.byte), e.what(), nullptr);
  }
}

}  // namespace dma
