// The results of the protocol on several data sets, as text.
#pragma once

#include <string>
#include <vector>

#include "tools/experiments/tables/protocol.h"

namespace dma::uci {

struct SetResult {
  std::string name;
  std::vector<SplitResult> splits;
};

// A table next to the published figures; `rows`: which rows were scored.
std::string markdown(const std::vector<SetResult>& results, std::string_view rows);

}  // namespace dma::uci
