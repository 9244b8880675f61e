// Ten series with a known truth, and simple forecasts as baselines.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dma::oracle {

struct MadeSeries {
  std::string name;
  std::size_t season = 1;  // steps; 1: there is none
  std::vector<std::optional<double>> values;
  std::vector<double> future;  // the values after them
};

std::vector<MadeSeries> made_series(std::uint64_t seed);

// Repeats the last season or, without one, the last value.
std::vector<double> seasonal_naive(std::span<const std::optional<double>> values, std::size_t season,
                                   std::size_t horizon);
// Exponential smoothing with a level, a slope and an additive season (Holt and Winters); its three constants minimise
// the squared errors one step ahead on a grid.
std::vector<double> holt_winters(std::span<const std::optional<double>> values, std::size_t season,
                                 std::size_t horizon);

}  // namespace dma::oracle
