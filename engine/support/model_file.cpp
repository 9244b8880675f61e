#include "engine/support/model_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "engine/support/checksum.h"
#include "engine/support/text.h"

namespace dma {

namespace {

constexpr std::string_view kModelFileVersion = "2";

std::string first_line(std::string_view kind, std::string_view content) {
  Checksum sum;
  sum.add(kind);
  sum.add(content);
  return fmt::format("{}{} {} {} {:016x}", kModelFileStart, kModelFileVersion, kind, content.size(), sum.value());
}

// The line without its end; at most so long as one may be.
std::string_view line_of(std::string_view bytes) {
  constexpr std::size_t kLongest = 100;
  return bytes.substr(0, std::min(bytes.find('\n'), kLongest));
}

// Counting from 0.
std::string_view word_of(std::string_view line, std::size_t number) {
  for (; number > 0; --number) line.remove_prefix(std::min(line.find(' '), line.size() - 1) + 1);
  return line.substr(0, line.find(' '));
}

[[noreturn]] void refuse_other_file(std::string_view bytes, std::string_view source) {
  if (kModelFileStart.starts_with(bytes))
    fail("'{}' was cut short after {} bytes; fit the model again", source, bytes.size());
  constexpr std::size_t kBeginning = 200;
  const std::string_view beginning = bytes.substr(0, kBeginning);
  if (beginning.find("\"format\": \"dma") != beginning.npos)
    fail(
        "'{}' was written by an earlier dma, in a format that is no longer read: fit the model again (dma fit TABLE "
        "--target COLUMN --model FILE)",
        source);
  fail(
      "'{}' is not a model of dma: it begins with \"{}\"; a file written by `dma fit --model` is expected; are two "
      "files exchanged?",
      source, printable(line_of(bytes).substr(0, 30)));
}

// The bytes behind the line, if nothing was changed.
std::string_view content_of(std::string_view bytes, std::string_view source) {
  if (!bytes.starts_with(kModelFileStart)) refuse_other_file(bytes, source);
  const std::string_view line = line_of(bytes), version = word_of(line, 2), size = word_of(line, 4);
  if (version != kModelFileVersion && version.find_first_not_of("0123456789") == version.npos && !version.empty())
    fail("'{}' has version {} of the format; this program reads version {}: use a newer dma, or fit the model again",
         source, version, kModelFileVersion);
  const std::string_view content = bytes.substr(std::min(line.size() + 1, bytes.size()));
  std::size_t bytes_expected = 0;
  std::from_chars(size.data(), size.data() + size.size(), bytes_expected);
  if (line.size() == bytes.size() || content.size() < bytes_expected)
    fail("'{}' was cut short after {} bytes; fit the model again", source, bytes.size());
  if (line != first_line(word_of(line, 3), content))
    fail(
        "'{}' is damaged: its bytes were changed after it was written, they no longer give its checksum; fit the "
        "model again",
        source);
  return content;
}

}  // namespace

std::string model_file(std::string_view kind, const Json& model) {
  const std::string content = cbor_of(model);
  return first_line(kind, content) + '\n' + content;
}

std::string_view model_kind(std::string_view bytes) {
  return bytes.starts_with(kModelFileStart) ? word_of(line_of(bytes), 3) : std::string_view();
}

void read_model(std::string_view bytes, std::string_view source, const std::vector<std::string_view>& kinds,
                const std::function<void(const Json&)>& read) {
  const std::string_view content = content_of(bytes, source), kind = model_kind(bytes);
  if (std::ranges::find(kinds, kind) == kinds.end())
    fail("'{}' is a {}; a {} is expected", source, printable(kind), joined(kinds, " or a "));
  std::string reason;
  try {
    return blaming(source, [&] { read(json_from_cbor(content)); });
  } catch (const Json::exception& e) {  // a key that is missing, a value of another type, CBOR that is none
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
