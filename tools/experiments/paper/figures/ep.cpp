// App. E.4: how often standard Gaussian EP goes improper on the paper's network. The paper argues it; here it is
// counted.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tools/experiments/paper/summary.h"

namespace dma::reproduce {

namespace {

struct EpRow {
  std::string method;
  double per_example;  // EP messages that one example computes on 8-6-5-1
};

// Leaky ReLU: 11 units, to y and to x. Product: 83 to z, 83 to the weight, 35 to the activation (the first layer's
// inputs are given).
constexpr double kRelu = 2 * 11, kProduct = 83 + 83 + 35;

const std::vector<EpRow> kEpRows = {{"ep", kRelu + kProduct}, {"ep-relu", kRelu}, {"ep-product", kProduct}};

std::vector<std::uint64_t> some_seeds(const Options& options) {
  std::vector<std::uint64_t> seeds = options.all_seeds();
  if (options.quick) seeds.resize(1);  // EP through a product is one quadrature per weight
  return seeds;
}

}  // namespace

std::vector<Unit> ep_units(const Options& options) {
  return fit_units(options, "small", {"ep", "ep-relu", "ep-product", "dma"}, some_seeds(options));
}

Section ep_report(const Options& options, const Results& results) {
  const auto seeds = some_seeds(options);
  Section s{"ep", "Appendix E.4: standard Gaussian EP on the same network"};
  s.text.push_back(
      "EP's message is the projected marginal divided by what arrived. Where that is not a proper Gaussian it is "
      "refused, the old message stays, and it is counted. No damping, no clipping.");
  Table table{fmt::format("EP over {} seeds, 8-6-5-1.", seeds.size()),
              {"EP on", "refused messages (median of a fit)", "per 1,000 messages of EP", "fits with at least one",
               "epochs", "extrapolation NLL", "diverged"},
              {}};
  int with_refusals = 0;
  double fraction_all = 0;
  for (const EpRow& row : kEpRows) {
    const Summary m = summarise(results, "small", row.method, seeds);
    std::vector<double> refused, fraction;
    int some = 0;
    for (const std::uint64_t seed : seeds) {
      const Json& r = result_of(results, "small", row.method, seed);
      refused.push_back(r.at("refused").get<double>());
      fraction.push_back(1000 * refused.back() / (row.per_example * 200 * r.at("epochs").get<double>()));
      some += refused.back() > 0;
    }
    if (row.method == "ep") with_refusals = some, fraction_all = median(fraction);
    table.rows.push_back({m.title, fmt::format("{:g}", median(refused)), fmt::format("{:.2f}", median(fraction)),
                          fmt::format("{} of {}", some, seeds.size()),
                          m.epochs.empty() ? "–" : fmt::format("{:g}", median(m.epochs)),
                          m.nll.empty() ? "–" : median_text(m.nll), fmt::format("{} of {}", m.diverged, m.runs)});
  }
  s.tables.push_back(std::move(table));
  s.claims.push_back(
      claim("E.4", "EP yields improper messages on this network", "argued, not measured",
            fmt::format("{} of {} fits, {:.1f} of 1,000 messages", with_refusals, seeds.size(), fraction_all),
            with_refusals > 0, "None was improper."));
  const Summary ep_runs = summarise(results, "small", "ep", seeds),
                dma_runs = summarise(results, "small", "dma", seeds);
  s.claims.push_back(claim(
      "E.4", "EP is therefore not a viable baseline", "not viable",
      ep_runs.nll.empty()
          ? "no finite fit"
          : fmt::format("keeping the old message where one is refused, it scores {:.2f} (DMA on these seeds {:.2f})",
                        median(ep_runs.nll), median(dma_runs.nll)),
      ep_runs.nll.empty() || median(ep_runs.nll) > median(dma_runs.nll) + 0.5,
      "Refusing an improper message and keeping the old one needs no tuning, and is enough on this network."));
  return s;
}

}  // namespace dma::reproduce
