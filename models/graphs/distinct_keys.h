// Reads JSON and refuses an object with a repeated key, of which the parser would silently keep the last.
#pragma once

#include <string>
#include <string_view>

#include "engine/support/json.h"

namespace dma {

// Escapes a key for a JSON pointer.
std::string escaped_key(const std::string& key);

// Throws an Error with the JSON pointer of a repeated key, or the line of a syntax error.
Json parse_graph_json(std::string_view text);

}  // namespace dma
