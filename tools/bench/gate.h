// What dma_bench --gate promises: no ratio gets worse than the committed one by more than its tolerance, and the engine
// and the loop by hand give the same answers.
#pragma once

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/support/json.h"

namespace dma::bench {

struct NetworkRow {
  std::string name;
  std::size_t weights = 0, rows = 0;
  double fused = 0, unfused = 0, hand = 0, adam = 0, least = 0;       // nanoseconds for each weight and row, medians
  double fused_by_hand = 0, unfused_by_fused = 0, fused_by_adam = 0;  // medians of ratios of neighbouring runs
  double difference = 0;  // of the weights' precisions between the engine and the loop by hand
};

struct NetworkRatio {
  const char* name;
  double NetworkRow::*value;
};
inline constexpr std::array<NetworkRatio, 3> kNetworkRatios = {{{"fused/hand", &NetworkRow::fused_by_hand},
                                                                {"unfused/fused", &NetworkRow::unfused_by_fused},
                                                                {"fused/adam", &NetworkRow::fused_by_adam}}};

// One line for each ratio that is more than its tolerance above the committed one, and for each row whose answers
// differ. `baseline` is tools/bench/baseline.json; a network that is not in it has nothing to be compared with, and
// says so.
inline std::vector<std::string> worse_than(const Json& baseline, const std::vector<NetworkRow>& rows) {
  std::vector<std::string> worse;
  const double tolerance = baseline.at("ratio_tolerance").get<double>();
  constexpr double kSameAnswers = 1e-9;
  for (const NetworkRow& r : rows) {
    if (!(r.difference < kSameAnswers))
      worse.push_back(fmt::format("{}: the engine and the loop by hand differ by {:.1e}", r.name, r.difference));
    if (!baseline.at("networks").contains(r.name)) {
      worse.push_back(fmt::format("{}: the baseline has no such network", r.name));
      continue;
    }
    const Json& ratios = baseline.at("networks").at(r.name);
    for (const NetworkRatio& ratio : kNetworkRatios) {
      const double committed = ratios.at(ratio.name).get<double>(), found = r.*ratio.value;
      if (!(found <= committed * (1 + tolerance)))
        worse.push_back(fmt::format("{}: {} is {:.2f}, more than {:.0f} % above the {:.2f} of the baseline", r.name,
                                    ratio.name, found, 100 * tolerance, committed));
    }
  }
  return worse;
}

}  // namespace dma::bench
