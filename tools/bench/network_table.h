// The five networks, every way beside the others: what an epoch costs for each weight and row, and the ratios that are
// promised. Ways are run in turns, so that all of them meet the same noise.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/bench/network_case.h"
#include "tools/bench/peaks.h"

namespace dma::bench {

struct NetworkRow {
  std::string name;
  std::size_t weights, rows;
  double fused, unfused, hand, adam, least;  // nanoseconds for each weight and row, medians
  double fused_by_hand, unfused_by_fused, fused_by_adam;  // medians of ratios of neighbouring runs
  double difference;                         // of the weights' precisions between the engine and the loop by hand
};

// `seconds` of every way for each network, and three epochs at least.
NetworkRow measure_network(const std::string& name, const PeakRates& peaks, double seconds);

std::string text(const std::vector<NetworkRow>& rows);
nlohmann::json to_json(const std::vector<NetworkRow>& rows);

// One line for each ratio that is more than its tolerance above the committed one, and for each row whose answers differ.
// `baseline` is tools/bench/baseline.json.
std::vector<std::string> worse_than(const nlohmann::json& baseline, const std::vector<NetworkRow>& rows);

}  // namespace dma::bench
