// Small files of data with a known truth, always the same for a seed: tables, series, games.
#pragma once

#include <cstdint>
#include <string>

namespace dma {

// y = sin(2 x1) + x2^2 - x3 and noise of 0.2, with inputs from [-1, 1] of which x4 says nothing; or, in the column
// class, whether that is low, middle or high.
std::string made_table(std::uint64_t seed, std::size_t rows, bool with_classes);

// sales: months with a slope, a season that grows with the level, promotions that add a tenth, and gaps;
// patients: days of counts with a week's pattern; cycle: years of an autoregression that swings in about eleven;
// walk: days of a level that wanders, seen with noise. An Error for another kind.
std::string made_series(std::uint64_t seed, const std::string& kind, std::size_t steps);

// Players of skills that are 6 apart on average, who play each other by chance; who performs better wins.
std::string made_games(std::uint64_t seed, std::size_t players, std::size_t games);

}  // namespace dma
