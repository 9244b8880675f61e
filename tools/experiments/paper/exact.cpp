// The exact posterior by long Hamiltonian Monte Carlo, and every method's distance to it: what the paper lacks.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tools/experiments/paper/figures.h"
#include "tools/experiments/paper/scores.h"

namespace dma::reproduce {

namespace {

// Adds the diagnostics of the chains; returns the largest R-hat.
double add_trust_table(Writer& w) {
  Table table{fmt::format("Hamiltonian Monte Carlo over {} seeds: {}.", w.seeds.size(), w.options.effort().text()),
              {"posterior", "largest R-hat, median over seeds", "worst seed", "seeds above 1.05",
               "effective samples, median", "worst seed", "acceptance", "gradients per seed"}};
  double worst = 1;
  for (const char* name : {"exact", "exact-own"}) {
    const std::vector<double> r_hat = w.each(name, "r_hat"), effective = w.each(name, "effective_samples");
    const double most = *std::ranges::max_element(r_hat);
    worst = std::max(worst, most);
    table.rows.push_back(
        {method(name).title, fmt::format("{:.3f}", median(r_hat)), fmt::format("{:.3f}", most),
         fmt::format("{} of {}", std::ranges::count_if(r_hat, [](double r) { return r > 1.05; }), w.seeds.size()),
         fmt::format("{:.0f}", median(effective)), fmt::format("{:.0f}", *std::ranges::min_element(effective)),
         two_digits(mean(w.each(name, "acceptance"))), fmt::format("{:.0f}", mean(w.each(name, "gradients")))});
  }
  w.section.tables.push_back(std::move(table));
  return worst;
}

void add_distance_table(Writer& w, const std::vector<std::string>& names) {
  Table table{"Mean KL of the exact predictive to a method's, nats per point outside the data; over seeds.",
              {"method", "to exact: median", "95 % interval", "mean", "to exact under DMA's prior means: median",
               "mean", "seeds nearer than DMA"}};
  std::vector<double> dma_kl;
  for (const std::string& name : names) {
    std::vector<double> kl, own;
    int nearer = 0;
    for (const std::uint64_t seed : w.seeds) {
      const Json& r = w.result(name, seed);
      if (!r.at("finite").get<bool>()) continue;
      kl.push_back(predictive_kl(w.result("exact", seed), r, w.task.data.noise));
      own.push_back(predictive_kl(w.result("exact-own", seed), r, w.task.data.noise));
      if (name != "dma") nearer += kl.back() < dma_kl[static_cast<std::size_t>(seed - w.options.seed)];
    }
    if (name == "dma") dma_kl = kl;
    if (kl.empty()) continue;
    table.rows.push_back({method(name).title, two_digits(median(kl)), median_interval(kl).text(), two_digits(mean(kl)),
                          two_digits(median(own)), two_digits(mean(own)),
                          name == "dma" ? "–" : fmt::format("{} of {}", nearer, w.seeds.size())});
  }
  w.section.tables.push_back(std::move(table));
}

}  // namespace

void write_exact(Writer& w) {
  w.text(
      "`exact` samples the posterior under the prior the data come from, N(0, 4/(3 fan_in)); `exact, DMA's prior "
      "means` under the prior that DMA is given, random means with variance 1/(3 fan_in): the difference of the two is "
      "what those means do, the distance of DMA to the second is what its messages do. R-hat and effective samples are "
      "the worst over the network's output at 70 inputs, inside and outside the data.");
  const std::vector<std::string> own_prior = own_and({"laplace", "ivon-tuned", "adam-0.1", "adamw-0.1-1", "linear"}),
                                 data_prior = {"dma-prior", "laplace-prior", "joint", "joint-one", "joint-linear"};
  const auto with = [](std::vector<std::string> names, const std::vector<std::string>& more) {
    names.insert(names.end(), more.begin(), more.end());
    return names;
  };
  const double worst = add_trust_table(w);
  w.score_table("All methods, each with its own prior, and the exact posterior.",
                with(own_prior, {"exact", "exact-own"}), {{"dma", "0.80", "1.95"}});
  w.score_table(
      "The same prior for all: N(0, 4/(3 fan-in)) on every weight, the one the data come from. `joint` learns one "
      "Gaussian over all weights around a mode; with slopes 1 the network is linear in the features.",
      with(data_prior, {"exact"}));
  add_distance_table(w, with(own_prior, data_prior));
  w.picture("exact", "The exact posterior beside the library's methods.",
            w.predictives("Outside the data", own_and({"joint", "exact"})));

  const Summary &exact = w.runs("exact"), &dma_runs = w.runs("dma"), &joint = w.runs("joint"),
                &slopes_1 = w.runs("joint-linear");
  w.claim(Claim::kOurs, "the chains agree: R-hat of every output below 1.05 on every seed", "no such reference",
          fmt::format("largest {:.3f}", worst), worst < 1.05,
          "Longer chains are needed on the seeds the table counts.");
  w.claim(
      "abstract, 4.3", "DMA's uncertainty is that of the posterior (mean score within 0.2 nats of the exact one)",
      "not measured",
      fmt::format("mean extrapolation NLL {:.2f}, exact {:.2f}; with noisy targets {:.2f} and {:.2f}",
                  mean(dma_runs.nll), mean(exact.nll), mean(dma_runs.noisy), mean(exact.noisy)),
      std::abs(mean(dma_runs.nll) - mean(exact.nll)) < 0.2,
      fmt::format("Under DMA's own prior means the exact posterior has {:.2f}. One Gaussian over all weights, which "
                  "keeps what weights know about each other, has {:.2f} under the data's prior, DMA {:.2f}.",
                  mean(w.runs("exact-own").nll), mean(joint.nll), mean(w.runs("dma-prior").nll)));
  w.claim(Claim::kOurs,
          "`joint` under the data's prior: mean extrapolation NLL at most 0.20, coverage of 95 % intervals at least "
          "0.95",
          "no such method",
          fmt::format("{:.2f} and {:.2f}; with slopes 1 {:.2f} and {:.2f}; exact {:.2f} and {:.2f}", mean(joint.nll),
                      mean(joint.coverage_95), mean(slopes_1.nll), mean(slopes_1.coverage_95), mean(exact.nll),
                      mean(exact.coverage_95)),
          mean(joint.nll) <= 0.20 && mean(joint.coverage_95) >= 0.95,
          fmt::format("The exact posterior itself has {:.3f} on these seeds, joint {:.3f}.", mean(exact.nll),
                      mean(joint.nll)));
  const double above = mean(joint.nll) - mean(exact.nll);
  w.claim(Claim::kOurs,
          "the same, measured by the exact posterior on the same seeds: mean extrapolation NLL at most 0.06 above",
          "no such method", fmt::format("{:+.3f}", above), above <= 0.06,
          "One Gaussian around each of four modes is not the posterior.");
  const std::vector<double>& linear = w.runs("linear").nll;
  const bool overlap = median_interval(linear).meets(median_interval(exact.nll));
  w.text(fmt::format("Medians against noiseless targets do not separate: linear {} and exact {} ({}).",
                     median_text(linear), median_text(exact.nll),
                     overlap ? "intervals overlap" : "intervals do not overlap"));
}

}  // namespace dma::reproduce
