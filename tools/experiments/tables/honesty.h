// The default judged on tables made to expose over-confidence: what is promised, beside what is measured.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/experiments/tables/honesty_tables.h"
#include "tools/experiments/tables/score_table.h"

namespace dma::validation {

struct HonestySettings {
  std::optional<std::vector<std::size_t>> hidden;  // widths of the layers; none: the fit chooses
  std::string method;                              // empty: the default
  std::uint64_t seed = 1;
};

// The RMSE that the fit says of itself (0: none); the RMSE on fresh rows, of the mean there, and of least squares; and
// of the fresh rows the coverage, the log-likelihood and the least log density of one.
enum HonestyColumn : std::uint8_t { kSaid, kRmse, kOfMean, kOfLinear, kCoverage, kLogLikelihood, kWorstRow, kSeconds };
std::vector<ScoreColumn> honesty_columns();
SplitScores judge(const HonestyTable& table, const HonestySettings& settings);

// Without data nearby: fraction of the true function inside 95 % epistemic intervals, and epistemic sd there over that
// at the data.
SplitScores judge(const NoDataTable& table, const HonestySettings& settings);

}  // namespace dma::validation
