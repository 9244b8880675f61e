// App. E.7, Table 4: coverage of central intervals, inside and outside the data.
#include <fmt/format.h>

#include "tools/experiments/paper/panels.h"
#include "tools/experiments/paper/summary.h"

namespace dma::reproduce {

namespace {

const std::vector<std::string> kCalibrated = {"laplace", "linear"};

}  // namespace

std::vector<Unit> calibration_units(const Options& options) {
  return fit_units(options, "small", own_and(kCalibrated), options.all_seeds());
}

Section calibration_report(const Options& options, const Results& results) {
  const auto seeds = options.all_seeds();
  Section s{"calibration", "Appendix E.7, Table 4: calibration"};
  s.text.push_back(
      "Fraction of the true values at 500 points inside every central interval of the predictive, and its mean signed "
      "deviation from the level over all levels. The true values are noiseless but the intervals hold the noise too, "
      "so a perfect predictive is above the diagonal (inside the data: by about 0.4), and 0 is not the best value. "
      "Opposite errors cancel within a seed and between seeds.");
  std::vector<std::pair<std::string, const Json*>> runs;
  for (const std::string& name : own_and(kCalibrated)) {
    const Summary m = summarise(results, "small", name, seeds);
    runs.emplace_back(m.title, &result_of(results, "small", name, options.seed));
    if (name == "dma" || name == "laplace")
      s.claims.push_back(median_claim(
          "Table 4", m.title + ": median coverage deviation outside", name == "dma" ? -0.09 : -0.10, m.deviation,
          "Conjecture: seeds, and which levels are averaged: the paper does not say; we take all of [0, 1]."));
  }
  s.pictures.push_back(
      {"calibration",
       "Coverage against level. Above the diagonal: wider than needed.",
       {.title = fmt::format("E.7, seed {}", options.seed),
        .panels = {coverage_panel("inside the data", runs, "inside"), coverage_panel("outside", runs, "outside")}}});
  const Summary dma_runs = summarise(results, "small", "dma", seeds),
                linear = summarise(results, "small", "linear", seeds);
  s.text.push_back(
      fmt::format("A model that is linear in the features, and so cannot represent the function, has a median "
                  "extrapolation NLL of {:.2f} against DMA's {:.2f}: the median with noiseless targets does not tell a "
                  "good posterior from a plain one on this task; the mean ({:.2f} against {:.2f}) and section `exact` "
                  "do.",
                  median(linear.nll), median(dma_runs.nll), mean(linear.nll), mean(dma_runs.nll)));
  return s;
}

}  // namespace dma::reproduce
