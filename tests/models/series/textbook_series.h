// Series of each type, as processes and as textbook matrices.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/series/state_space.h"
#include "tests/oracles/kalman.h"

namespace dma::oracle {

struct TextbookSeries {
  std::string name;
  std::vector<Process> processes;
  KalmanModel model;  // observation variance 0.5; a level starts at 0.3, everything else at 0, with variance 20
};

std::vector<TextbookSeries> textbook_series();

// Numbers that look like a series, every seventh missing.
std::vector<std::optional<double>> series_with_gaps(std::size_t length);

}  // namespace dma::oracle
