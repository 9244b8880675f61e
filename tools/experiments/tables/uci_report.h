// The results of the protocol on several data sets, as text, Markdown, CSV, JSON and a picture.
#pragma once

#include <string>
#include <vector>

#include "engine/support/json.h"
#include "tools/dma/pictures/figure.h"
#include "tools/experiments/tables/protocol.h"

namespace dma::uci {

struct SetResult {
  std::string name;
  std::vector<SplitResult> splits;
};

// One line: "boston  20 splits  RMSE 2.83 +- 0.18  log-likelihood -2.50 +- 0.07  95 % coverage 0.965  96 epochs, 0.9
// CPU s a split".
std::string line(const SetResult& result);
// A table next to the published figures; `rows`: which rows were scored.
std::string markdown(const std::vector<SetResult>& results, std::string_view rows);
std::string csv(const std::vector<SetResult>& results);
Json json(const std::vector<SetResult>& results);
// One panel for RMSE and one for the log-likelihood, each relative to PBP where that is published: one row per set.
plot::Figure figure(const std::vector<SetResult>& results);

}  // namespace dma::uci
