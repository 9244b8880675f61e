// Names of reaches in graph files.
#pragma once

#include <string_view>
#include <utility>

#include "engine/graph/graph.h"

namespace dma {

inline constexpr std::pair<Reach, std::string_view> kReaches[] = {
    {Reach::identical, "identical"}, {Reach::row, "row"},
    {Reach::column, "column"},       {Reach::all_to_one, "all_to_one"},
    {Reach::gather, "gather"},       {Reach::shift, "shift"},
    {Reach::given, "given"}};

}  // namespace dma
