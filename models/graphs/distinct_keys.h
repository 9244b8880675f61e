// JSON in which no object says the same key twice: of two values the parser would keep the last without a word.
#pragma once

#include <string>
#include <string_view>

#include "models/files/readable_json.h"

namespace dma {

// As a part of a JSON pointer.
std::string escaped_key(const std::string& key);

// An Error with the JSON pointer of a key that its object has twice, or the line of what is no JSON.
Json parse_graph_json(std::string_view text);

}  // namespace dma
