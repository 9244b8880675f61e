#include "models/files/checksummed_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/support/checksum.h"
#include "engine/support/error.h"
#include "engine/support/text.h"
#include "models/files/long_strings.h"

namespace dma {

namespace {

constexpr std::string_view kNoDigits = "0000000000000000";  // as long as any

std::string digits_of(std::string_view before, std::string_view after) {
  Checksum sum;
  sum.add(before);
  sum.add(after);
  return fmt::format("{:016x}", sum.value());
}

// Where in the text the digits of the checksum begin.
std::size_t position(std::string_view text, std::string_view digits) {
  const std::string before = fmt::format("\"{}\": \"", kChecksumKey);
  const std::size_t at = text.find(fmt::format("{}{}\"", before, digits));
  return at == text.npos ? at : at + before.size();
}

}  // namespace

std::string checksummed(Json json) {
  json[kChecksumKey] = kNoDigits;
  std::string text = readable(json);
  const std::size_t at = position(text, kNoDigits);
  const std::string_view all = text;
  const std::string digits = digits_of(all.substr(0, at), all.substr(at + kNoDigits.size()));
  return text.replace(at, digits.size(), digits);
}

void check_checksum(const Json& json, std::string_view text) {
  if (!json.contains(kChecksumKey)) return;
  const std::string digits = json.at(kChecksumKey).get<std::string>();
  const std::size_t at = position(text, digits);
  if (digits.size() != kNoDigits.size() || at == text.npos ||
      digits_of(text.substr(0, at), text.substr(at + digits.size())) != digits)
    fail(
        "its bytes were changed after it was written, they no longer give its checksum (take the line \"{}\" out if "
        "the "
        "change was meant)",
        kChecksumKey);
}

void check_nesting(std::string_view text) {
  constexpr std::size_t kDeepest = 100;  // ten times what a model needs
  std::size_t depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') i = end_of_string(text, i) - 1;
    if ((c == '[' || c == '{') && ++depth > kDeepest) fail("it is nested more than {} deep at byte {}", kDeepest, i);
    if ((c == ']' || c == '}') && depth > 0) --depth;
  }
}

void read_checksummed(std::string_view text, std::string_view source, const std::function<void(const Json&)>& read) {
  std::string reason;
  try {
    blaming(source, [&] {
      check_nesting(text);
      const Json json = parse_long_strings(text);
      read(json);
      check_checksum(json, text);
    });
    return;
  } catch (const Json::parse_error& e) {
    const std::string_view line = text.substr(0, std::min<std::size_t>(text.find('\n'), 30));
    if (!line.starts_with('{') && !line.empty())
      fail("'{}' is not a model of dma: it begins with \"{}\", a model with {{; are two files exchanged?", source,
           printable(line));
    if (e.byte > text.size()) fail("'{}' was cut short after {} bytes; fit the model again", source, text.size());
    fail("'{}' is not a model of dma, or was cut short: it stops making sense at byte {} of {}; fit the model again",
         source, e.byte, text.size());
  } catch (const Json::exception& e) {  // a key that is missing, a value of another type, a number beyond double
    reason = e.what();
    reason.erase(0, reason.find("] ") + 2);  // the library's own error number
  }
  fail("'{}' is damaged: {}; fit the model again", source, printable(reason));
}

void blaming(std::string_view source, const std::function<void()>& use) {
  try {
    use();
  } catch (const Error& e) {
    if (source.empty() || std::string_view(e.what()).starts_with(fmt::format("'{}'", source))) throw;
    fail("'{}' is damaged: {}; fit the model again", source, e.what());
  }
}

}  // namespace dma
