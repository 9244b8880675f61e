// The default judged on tables made to expose over-confidence: what is promised, beside what is measured.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dma::validation {

struct HonestyResult {
  std::string table;
  double rmse = 0, of_mean = 0, of_linear = 0;  // of the model, the mean and least squares, over fresh rows
  double said = 0;                              // RMSE by what the fit says of itself; 0: it says nothing
  double coverage = 0, log_likelihood = 0, seconds = 0;
  double least_coverage = 0, most_coverage = 1, most_rmse = 0;  // promised
  bool kept() const { return coverage >= least_coverage && coverage <= most_coverage && rmse <= most_rmse; }
};

struct Seeds {
  std::size_t count = 1;
  std::uint64_t first = 1;
};

using Hidden = std::optional<std::vector<std::size_t>>;  // widths of the layers; nothing: one that the fit chooses

// Mean over seeds of a table by the default settings with these hidden layers, by this method (empty: the default).
HonestyResult measure_honesty(const std::string& table, Seeds seeds, const Hidden& hidden = {},
                              const std::string& method = {});

// Where no data are: fraction of the true function inside 95 % epistemic intervals, and epistemic sd there over that at
// the data.
struct NoDataResult {
  double coverage = 0, sd_ratio = 0;
};
NoDataResult measure_gap(Seeds seeds, const Hidden& hidden = {});
NoDataResult measure_beyond(Seeds seeds, const Hidden& hidden = {});

// RMSE on a smooth function of 10 inputs with noise 0.3, learned from so many rows.
double measure_divergence(std::size_t rows, std::uint64_t seed, double& seconds);

// Beyond the data of the paper's 8-6-5-1 task by a method of `dma-lab reproduce` ("joint", "joint-linear", "exact",
// ...) and by its protocol:
// means over seeds of the negative log density of the true function, and of the fraction of it inside 95 % intervals.
struct ExtrapolationResult {
  double nll = 0, coverage = 0;
};
ExtrapolationResult measure_extrapolation(const std::string& method, Seeds seeds);

}  // namespace dma::validation
