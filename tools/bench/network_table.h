// The five networks, every way beside the others: what an epoch costs for each weight and row, and the ratios that are
// promised. Ways are run in turns, so that all of them meet the same noise.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/bench/gate.h"
#include "tools/bench/network_case.h"
#include "tools/bench/peaks.h"

namespace dma::bench {

// `seconds` of every way for each network, and three epochs at least.
NetworkRow measure_network(const std::string& name, const PeakRates& peaks, double seconds);

std::string text(const std::vector<NetworkRow>& rows);
nlohmann::json to_json(const std::vector<NetworkRow>& rows);

}  // namespace dma::bench
