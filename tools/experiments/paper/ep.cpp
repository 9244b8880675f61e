// App. E.4: how often standard Gaussian EP goes improper on the paper's network. The paper argues it; here it is
// counted.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tools/experiments/paper/figures.h"

namespace dma::reproduce {

void write_ep(Writer& w) {
  // EP messages that one example computes on 8-6-5-1. Leaky ReLU: 11 units, to y and to x. Product: 83 to z, 83 to the
  // weight, 35 to the activation (the first layer's inputs are given).
  constexpr double kRelu = 2 * 11, kProduct = 83 + 83 + 35;
  w.text(
      "EP's message is the projected marginal divided by what arrived. Where that is not a proper Gaussian it is "
      "refused, the old message stays, and it is counted. No damping, no clipping.");
  Table table{fmt::format("EP over {} seeds, 8-6-5-1.", w.seeds.size()),
              {"EP on", "refused messages (median of a fit)", "per 1,000 messages of EP", "fits with at least one",
               "epochs", "extrapolation NLL", "diverged"}};
  int with_refusals = 0;
  double fraction_all = 0;
  for (const auto& [name, per_example] :
       {std::pair("ep", kRelu + kProduct), std::pair("ep-relu", kRelu), std::pair("ep-product", kProduct)}) {
    const Summary& m = w.runs(name);
    const std::vector<double> refused = w.each(name, "refused"), epochs = w.each(name, "epochs");
    std::vector<double> fraction;
    int some = 0;
    for (std::size_t i = 0; i < refused.size(); ++i) {
      fraction.push_back(1000 * refused[i] / (per_example * 200 * epochs[i]));
      some += refused[i] > 0;
    }
    if (name == std::string_view("ep")) {
      with_refusals = some;
      fraction_all = median(fraction);
    }
    table.rows.push_back({m.title, fmt::format("{:g}", median(refused)), two_digits(median(fraction)),
                          fmt::format("{} of {}", some, w.seeds.size()),
                          m.epochs.empty() ? "–" : fmt::format("{:g}", median(m.epochs)),
                          m.nll.empty() ? "–" : median_text(m.nll), fmt::format("{} of {}", m.diverged, m.runs)});
  }
  w.section.tables.push_back(std::move(table));
  w.claim("E.4", "EP yields improper messages on this network", "argued, not measured",
          fmt::format("{} of {} fits, {:.1f} of 1,000 messages", with_refusals, w.seeds.size(), fraction_all),
          with_refusals > 0, "None was improper.");
  const std::vector<double>&ep = w.runs("ep").nll, &own = w.runs("dma").nll;
  w.claim("E.4", "EP is therefore not a viable baseline", "not viable",
          ep.empty() ? "no finite fit"
                     : fmt::format("keeping the old message where one is refused, it scores {:.2f} (DMA on these seeds "
                                   "{:.2f})",
                                   median(ep), median(own)),
          ep.empty() || median(ep) > median(own) + 0.5,
          "Refusing an improper message and keeping the old one needs no tuning, and is enough on this network.");
}

}  // namespace dma::reproduce
