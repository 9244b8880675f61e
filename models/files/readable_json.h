// JSON for people: keys in the order they were set, one per line, arrays of numbers on one line.
#pragma once

#include <string>

#include "engine/support/json.h"

namespace dma {

// The shortest digits that give back the same double. JSON has no infinities and no NaN: they become the texts "inf",
// "-inf" and "nan", which json_number reads again.
Json json_number(double value);
double json_number(const Json& json);

std::string readable(const Json& json);

}  // namespace dma
