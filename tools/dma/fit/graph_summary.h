// What a learned graph is and how it was learned, for people and for programs.
#pragma once

#include <string>

#include "models/files/readable_json.h"
#include "models/graphs/graph_model.h"

namespace dma {

std::string summary_text(const GraphModel& model);
Json summary_json(const GraphModel& model);

}  // namespace dma
