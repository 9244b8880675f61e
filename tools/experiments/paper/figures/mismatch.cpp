// App. F, Table 5: data of a wider network.
#include <fmt/format.h>

#include "tools/experiments/paper/panels.h"
#include "tools/experiments/paper/summary.h"

namespace dma::reproduce {

namespace {

const std::vector<std::string> kMismatched = {"adam-0.1",    "adamw-0.1-0.01", "adamw-0.1-0.1",
                                              "adamw-0.1-1", "adamw-0.1-10",   "laplace"};

}  // namespace

std::vector<Unit> mismatch_units(const Options& options) {
  return fit_units(options, "mismatch", own_and(kMismatched), options.all_seeds());
}

Section mismatch_report(const Options& options, const Results& results) {
  const auto seeds = options.all_seeds();
  Section s{"mismatch", "Appendix F, Table 5: model mismatch"};
  s.text.push_back("Data of a network 8-12-10-1 on [-5, 5], model 8-6-5-1; scored on [-6.5, -5] and [5, 6.5].");
  s.tables.push_back(score_table(
      results, fmt::format("Table 5 over {} seeds. The paper's means: DMA 0.29, Adam 2.21, AdamW -0.11.", seeds.size()),
      "mismatch", own_and(kMismatched), seeds,
      {{"dma", "0.01", "0.44"}, {"adam-0.1", "0.50", "2.23"}, {"adamw-0.1-0.1", "-0.36", "0.73"}}));
  s.pictures.push_back({"mismatch", "The same data, four fits.",
                        predictive_figure(options, results, "F", "mismatch", own_and({"adam-0.1", "adamw-0.1-0.1"}))});

  const Summary dma_runs = summarise(results, "mismatch", "dma", seeds),
                adam = summarise(results, "mismatch", "adam-0.1", seeds),
                adamw = summarise(results, "mismatch", "adamw-0.1-0.1", seeds);
  const std::string start = "Conjecture: starting weights. Ours are the prior means, the authors' are not given.";
  s.claims.push_back(median_claim(
      "Table 5", "DMA: median extrapolation NLL", 0.01, dma_runs.nll,
      "Conjecture: seeds; the paper's four that oscillated until epoch 200 may have no counterpart among ours."));
  s.claims.push_back(median_claim("Table 5", "Adam 0.1: median", 0.50, adam.nll, start));
  s.claims.push_back(median_claim("Table 5", "AdamW 0.1, decay 0.1: median", -0.36, adamw.nll, start));
  const double a = interquartile_range(dma_runs.nll), b = interquartile_range(adam.nll),
               c = interquartile_range(adamw.nll);
  s.claims.push_back(claim("Table 5", "DMA's IQR is the tightest of the three", "0.44, 2.23, 0.73",
                           fmt::format("{:.2f}, {:.2f}, {:.2f}", a, b, c), a < b && a < c, "Not on our seeds."));
  int limit = 0;
  for (const std::uint64_t seed : seeds)
    limit += !result_of(results, "mismatch", "dma", seed).at("stopped").get<bool>();
  s.claims.push_back(claim("F", "some runs oscillate and do not stop within 200 epochs", "4 of 20",
                           fmt::format("{} of {}", limit, seeds.size()), limit > 0,
                           "Every run of ours stopped by its rule."));
  const auto mean_width = [&](const char* name, const char* where) {
    std::vector<double> widths;
    for (const std::uint64_t seed : seeds)
      widths.push_back(value_of(result_of(results, "mismatch", name, seed).at(where), "width"));
    return mean(widths);
  };
  const double inside = mean_width("dma", "inside"), outside = mean_width("dma", "outside");
  s.claims.push_back(claim(
      "F", "DMA's intervals widen outside the data under mismatch too", "widen",
      fmt::format("mean sd {:.2f} inside, {:.2f} outside", inside, outside), outside > inside,
      fmt::format("They do not; the default's have {:.2f} and {:.2f}. Conjecture: outside [-5, 5] the bumps of the "
                  "feature map have died out and the sine repeats itself, so that what was learned inside decides.",
                  mean_width("default", "inside"), mean_width("default", "outside"))));
  return s;
}

}  // namespace dma::reproduce
