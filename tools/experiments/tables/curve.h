// Log-likelihood on the scored rows over epochs: whether going on ever does harm.
#pragma once

#include <string>
#include <vector>

#include "tools/experiments/tables/uci_report.h"

namespace dma::uci {

// The mean over the splits at every point of the curve.
std::vector<double> curve_of(const SetResult& result);
// One row per set, one column per number of epochs, and the largest fall from an earlier point to a later one.
std::string curve_markdown(const std::vector<SetResult>& results);
// The change since the first point, one line per set.
plot::Figure curve_figure(const std::vector<SetResult>& results);

}  // namespace dma::uci
