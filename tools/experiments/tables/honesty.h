// The default judged on tables made to expose over-confidence: what is promised, beside what is measured.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/table/scores.h"
#include "tools/experiments/tables/honesty_tables.h"

namespace dma::validation {

struct HonestySettings {
  std::optional<std::vector<std::size_t>> hidden;  // widths of the layers; nothing: a width that the fit chooses
  std::string method;                              // empty: the default
  std::uint64_t seed = 1;
};

struct Honesty {
  Scores fresh;                       // of fresh rows
  double worst_row = 0;               // log density of the fresh target that is least expected
  double said = 0;                    // RMSE by what the fit says of itself; 0: it says nothing
  double of_mean = 0, of_linear = 0;  // RMSE of the mean and of least squares on fresh rows
  double seconds = 0;
};
Honesty judge(const HonestyTable& table, const HonestySettings& settings);

// Without data nearby: fraction of the true function inside 95 % epistemic intervals, and epistemic sd there over that
// at the data.
struct HonestyFar {
  double coverage = 0, sd_ratio = 0;
};
HonestyFar judge(const NoDataTable& table, const HonestySettings& settings);

}  // namespace dma::validation
