// Section 4.3 and App. E.1: the task, the fit, Figure 2.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tools/dma/pictures/hinton_figure.h"
#include "tools/experiments/paper/fit_network.h"
#include "tools/experiments/paper/panels.h"
#include "tools/experiments/paper/summary.h"

namespace dma::reproduce {

std::vector<Unit> regression_units(const Options& options) {
  return fit_units(options, "small", own_methods(), options.all_seeds());
}

Section regression_report(const Options& options, const Results& results) {
  const Task task = make_task("small", options.seed);
  Section s{"regression", "Section 4.3: one-dimensional regression, Figure 2"};
  s.text.push_back(
      fmt::format("200 rows on [-2.5, 1.5] of a network 8-6-5-1 drawn from the prior, seen through noise 0.2; the "
                  "model knows widths, slopes and noise. The picture shows seed {}. `default` is what `dma fit` does "
                  "without being told anything, given the same widths, slopes and noise.",
                  options.seed));
  const Json& dma_run = result_of(results, "small", "dma", options.seed);
  const double error = value_of(dma_run.at("inside"), "rmse"), inside = value_of(dma_run.at("inside"), "width"),
               outside = value_of(dma_run.at("outside"), "width");
  const bool tracks = error < task.data.noise;
  s.claims.push_back(
      claim("4.3, Fig. 2", "the mean tracks the true function closely within the data (error below the noise, 0.2)",
            "closely", fmt::format("RMSE {:.3f}", error), tracks,
            fmt::format("DMA underfits on this seed: the data allow more, the default has {:.3f}. Conjecture: the "
                        "product's backward message, "
                        "which is far too wide where the signal-to-noise ratio is low (App. C.3).",
                        value_of(result_of(results, "small", "default", options.seed).at("inside"), "rmse"))));
  s.claims.push_back(claim("4.3, Fig. 2", "intervals widen outside the data", "widen",
                           fmt::format("mean sd {:.2f} inside, {:.2f} outside", inside, outside), outside > inside,
                           "Not on this seed."));
  double refused = 0;
  for (const std::uint64_t seed : options.all_seeds())
    refused += result_of(results, "small", "dma", seed).at("refused").get<double>();
  s.claims.push_back(claim("4.3", "all variances stay positive: no message refused, over all seeds", "0",
                           fmt::format("{:g}", refused), refused == 0,
                           "See the first refused message with `dma inspect`."));
  s.pictures.push_back({"figure2_predictive",
                        "Figure 2 left. Dashed: the true function. Look at how far the mean is from it inside the "
                        "dotted verticals, and whether the band holds it outside.",
                        predictive_figure(options, results, "Figure 2 left", "small", own_methods())});
  FitReport report;
  const Bnn net = fitted_network(task, options.seed, options.effort(), {}, report);
  s.pictures.push_back({"figure2_weights", "Figure 2 right: DMA's weights.", hinton_figure(net.method())});
  return s;
}

}  // namespace dma::reproduce
