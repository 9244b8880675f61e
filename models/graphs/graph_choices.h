// Numbers that a graph file leaves open, for learning to choose (models/predict/table_model.h):
//
//   "choices": {"sizes": {"units": [10, 20, 50]}, "smoothing": {"jitter": [0.25, 1, 0.04]}}
//
// Sizes of variables and parameters are then expressions of these names: "units", "13 * units", "1 / (units + 1)".
// Several sizes are tried together, the first of each, then the second. Until somebody chooses, the first of each
// holds.
#pragma once

#include <string_view>
#include <vector>

#include "engine/support/json.h"
#include "models/graphs/graph_file.h"

namespace dma {

// The choices of a graph's JSON, if it has any. An Error says where it is wrong.
GraphChoices graph_choices(const Json& json, std::string_view text);
// The same JSON with numbers in place of expressions, and without choices.
Json with_choices(Json json, const GraphChoices& choices, const std::vector<std::size_t>& sizes, double smoothing);

}  // namespace dma
