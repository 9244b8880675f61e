// JSON with strings of megabytes, such as packed numbers. A parser that looks at every character by itself needs 7 ns
// for each; here such strings are set aside, the rest is parsed, and they are put back.
#pragma once

#include <string_view>

#include "models/files/readable_json.h"

namespace dma {

// What parse_json(text) gives; throws Json::parse_error as it does, whose byte counts in `text`.
Json parse_long_strings(std::string_view text);

// The first byte after the string that begins with the quotation mark at `begin`; the end of the text if it does not
// end.
std::size_t end_of_string(std::string_view text, std::size_t begin);

}  // namespace dma
