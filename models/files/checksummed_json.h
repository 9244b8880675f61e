// JSON files that notice damage: the text holds a checksum of all its other bytes.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "models/files/readable_json.h"

namespace dma {

inline constexpr const char* kChecksumKey = "checksum";

// The readable text of an object that has the key kChecksumKey, whose value it sets.
std::string checksummed(Json json);

// An Error unless the checksum in the parsed text is that of the text. A file without one passes: it was written before
// there were any, or by hand.
void check_checksum(const Json& json, std::string_view text);

// An Error for text nested deeper than anything of ours, before it is parsed: recursive functions walk through the
// result.
void check_nesting(std::string_view text);

// Parses the text, gives it to `read`, and checks the checksum. An Error of one line, beginning with `source`, for
// whatever goes wrong: text that is damaged, cut short or of another kind. Errors of `read` that begin with the
// source pass as they are.
void read_checksummed(std::string_view text, std::string_view source, const std::function<void(const Json&)>& read);

// Errors of `use` become "'source' is damaged: ...; fit the model again"; without a source they pass as they are.
void blaming(std::string_view source, const std::function<void()>& use);

}  // namespace dma
