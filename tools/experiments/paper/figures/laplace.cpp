// App. E.6: diagonal Laplace.
#include <fmt/format.h>

#include "tools/experiments/paper/panels.h"
#include "tools/experiments/paper/summary.h"

namespace dma::reproduce {

std::vector<Unit> laplace_units(const Options& options) {
  return fit_units(options, "small", own_and({"laplace"}), options.all_seeds());
}

Section laplace_report(const Options& options, const Results& results) {
  const auto seeds = options.all_seeds();
  Section s{"laplace", "Appendix E.6: the diagonal Laplace approximation"};
  s.text.push_back(
      "MAP by Adam (0.1, 200 epochs), prior N(0, 2/fan_in) as the paper states (it calls this DMA's prior; DMA's is "
      "N(mean, 1/(3 fan_in)) around random means, altogether 4/(3 fan_in)), the diagonal of the exact "
      "Hessian, posterior samples.");
  s.text.push_back(
      "The network's output is piecewise linear in every single weight, so the second derivative of the output by one "
      "weight is 0 and the exact diagonal of the Hessian is the sum of squared first derivatives over the noise, plus "
      "the prior: never negative, at the price of one backward pass per output. Appendix G's reasons for leaving "
      "Laplace out of the large network (cost of the order of weights squared, negative entries to clamp) do not "
      "apply; section `large` runs it there.");
  s.pictures.push_back({"laplace", "Predictives on the same data.",
                        predictive_figure(options, results, "E.6", "small", own_and({"laplace"}))});
  const Summary dma_runs = summarise(results, "small", "dma", seeds),
                laplace = summarise(results, "small", "laplace", seeds);
  s.claims.push_back(median_claim(
      "E.6, Table 4", "diagonal Laplace: median extrapolation NLL", 0.77, laplace.nll,
      "Conjecture: starting weights of the search for the MAP, which the paper does not give, and seeds."));
  const Interval a = median_interval(dma_runs.nll), b = median_interval(laplace.nll);
  s.claims.push_back(claim("E.6", "DMA and diagonal Laplace are broadly comparable (intervals overlap)",
                           "0.82 and 0.77",
                           fmt::format("{} and {}", median_text(dma_runs.nll), median_text(laplace.nll)),
                           a.low <= b.high && b.low <= a.high, "They differ on our seeds."));
  return s;
}

}  // namespace dma::reproduce
