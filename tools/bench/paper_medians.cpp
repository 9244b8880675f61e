#include "tools/bench/paper_medians.h"

#include <fmt/format.h>

#include <vector>

#include "tools/experiments/paper/paper_run.h"

namespace dma::bench {

std::string paper_medians(int seeds) {
  using validation::PaperRun;
  std::vector<PaperRun> runs;
  for (int seed = 1; seed <= seeds; ++seed) {
    const auto own = static_cast<std::uint64_t>(seed);
    runs.push_back(validation::run_paper_task(validation::small_task(own), -2.5, 1.5, "dma", own,
                                              {.batches = 10, .epochs = 200, .tolerance = 0.1}));
  }
  const auto quantile = [&](double PaperRun::*value, double probability) {
    std::vector<double> values;
    for (const PaperRun& r : runs) values.push_back(r.*value);
    return validation::quantile(values, probability);
  };
  std::string text = fmt::format("8-6-5-1 over {} seeds: median (quartiles){:>26}{:>12}\n", seeds, "plain loops", "paper");
  const auto line = [&](std::string_view name, double PaperRun::*value, std::string_view expected, std::string_view paper) {
    text += fmt::format("  {:<24}{:>8.2f} ({:.2f} to {:.2f}){:>22}{:>12}\n", name, quantile(value, 0.5), quantile(value, 0.25),
                        quantile(value, 0.75), expected, paper);
  };
  line("epochs", &PaperRun::epochs, "6", "16");
  line("train NLL", &PaperRun::train_nll, "-0.10", "-0.16");
  line("extrapolation NLL", &PaperRun::extrapolation_nll, "0.87 to 1.2", "0.80");
  line("coverage deviation", &PaperRun::coverage_deviation, "-0.14 to -0.22", "-0.09");
  line("refused messages", &PaperRun::refused, "0", "0");
  text += fmt::format("  {:<24}{:>8.2f}{:>34}{:>12}\n", "IQR of extrapolation NLL",
                      quantile(&PaperRun::extrapolation_nll, 0.75) - quantile(&PaperRun::extrapolation_nll, 0.25), "1.87", "1.95");
  return text;
}

}  // namespace dma::bench
