// JSON for people: keys in the order they were set, one per line, arrays of numbers on one line.
#pragma once

#include <string>

#include "engine/support/json.h"

namespace dma {

std::string readable(const Json& json);

}  // namespace dma
