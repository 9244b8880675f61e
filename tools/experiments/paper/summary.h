// Results of one method over all seeds, and the tables made of them.
#pragma once

#include <optional>

#include "tools/experiments/paper/experiment.h"
#include "tools/experiments/paper/statistics.h"

namespace dma::reproduce {

// One value per seed whose fit stayed finite.
struct Summary {
  std::string method, title;
  std::vector<double> epochs = {}, train = {}, nll = {}, noisy = {}, deviation = {}, coverage_95 = {};
  int runs = 0, diverged = 0;
};

// A fit counts as diverged when it left the numbers, or when its training NLL is worse than this: hundreds of standard
// deviations of the noise away from the data.
inline constexpr double kDivergedNll = 1e4;

Summary summarise(const Results& results, const std::string& task, const std::string& method,
                  const std::vector<std::uint64_t>& seeds);

struct PaperRow {
  std::string method;
  std::string median = {}, iqr = {};  // as the paper prints them
};

// Units of every method of the rows for every seed; the first seed with its curves.
std::vector<Unit> fit_units(const Options& options, const std::string& task, const std::vector<std::string>& methods,
                            const std::vector<std::uint64_t>& seeds);

// Median with bootstrap interval, IQR and mean of the extrapolation NLL, the expected score against noisy targets,
// coverage: a row per method, with the paper's numbers where it has any.
Table score_table(const Results& results, const std::string& caption, const std::string& task,
                  const std::vector<std::string>& methods, const std::vector<std::uint64_t>& seeds,
                  const std::vector<PaperRow>& paper = {});

// Holds when the paper's figure lies inside the bootstrap interval of our median.
Claim median_claim(std::string where, std::string claim, double paper, const std::vector<double>& ours,
                   std::string why);
// Holds when it does; for what is not a number.
Claim claim(std::string where, std::string text, std::string paper, std::string ours, bool holds, std::string why);

// The unit's result; fails in words if it is missing.
const Json& result_of(const Results& results, std::string_view task, std::string_view method, std::uint64_t seed);
double value_of(const Json& json, const char* key);
std::vector<double> values_of(const Json& json);
// "dma" and the other own methods, then the names given.
std::vector<std::string> own_and(const std::vector<std::string>& others);

}  // namespace dma::reproduce
