// The exact posterior by long Hamiltonian Monte Carlo, and every method's distance to it: what the paper lacks.
#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "tools/reproduce/panels.h"
#include "tools/reproduce/summary.h"

namespace dma::reproduce {

namespace {

const std::vector<std::string> kOthers = {"laplace", "ivon-tuned", "adam-0.1", "adamw-0.1-1", "linear"};
const std::vector<std::string> kExact = {"exact", "exact-own"};

// Mean over the points of KL(exact predictive || method's). The method's is Gaussian, so the cross entropy needs only
// moments.
double predictive_kl(const Json& exact, const Json& other) {
  const auto entropy = values_of(exact.at("entropy")), m = values_of(exact.at("outside").at("mean")),
             sd = values_of(exact.at("outside").at("sd"));
  const auto mean_q = values_of(other.at("outside").at("mean")), sd_q = values_of(other.at("outside").at("sd"));
  double sum = 0;
  for (std::size_t i = 0; i < m.size(); ++i) {
    const double off = m[i] - mean_q[i], v = sd_q[i] * sd_q[i];
    sum += 0.5 * std::log(2 * std::numbers::pi * v) + (sd[i] * sd[i] + off * off) / (2 * v) - entropy[i];
  }
  return sum / static_cast<double>(m.size());
}

std::vector<std::string> compared() {
  std::vector<std::string> all = own_and(kOthers);
  all.insert(all.end(), kExact.begin(), kExact.end());
  return all;
}

}  // namespace

std::vector<Unit> exact_units(const Options& options) {
  // The longest first, so that no thread is left with one at the end.
  std::vector<Unit> units = fit_units(options, "small", kExact, options.all_seeds());
  const std::vector<Unit> others = fit_units(options, "small", own_and(kOthers), options.all_seeds());
  units.insert(units.end(), others.begin(), others.end());
  return units;
}

Section exact_report(const Options& options, const Results& results) {
  const auto seeds = options.all_seeds();
  Section s{"exact", "The exact posterior, which the paper lacks"};
  s.text.push_back(
      "`exact` samples the posterior under the prior the data come from, N(0, 4/(3 fan_in)); `exact, DMA's prior "
      "means` under the prior that DMA is "
      "given, random means with variance 1/(3 fan_in): the difference of the two is what those means do, the distance "
      "of DMA to the second is what "
      "its messages do. R-hat and effective samples are the worst over the network's output at 70 inputs, inside and "
      "outside the data.");
  Table trust{"exact_chains",
              fmt::format("Hamiltonian Monte Carlo over {} seeds: {}.", seeds.size(), options.effort().text()),
              {"posterior", "largest R-hat, median over seeds", "worst seed", "seeds above 1.05",
               "effective samples, median", "worst seed", "acceptance", "gradients a seed"},
              {}};
  double worst = 1;
  for (const std::string& name : kExact) {
    std::vector<double> r_hat, effective, acceptance, gradients;
    int above = 0;
    for (const std::uint64_t seed : seeds) {
      const Json& r = result_of(results, "small", name, seed);
      r_hat.push_back(value_of(r, "r_hat")), effective.push_back(value_of(r, "effective_samples")),
          acceptance.push_back(value_of(r, "acceptance"));
      gradients.push_back(r.at("gradients").get<double>());
      above += r_hat.back() > 1.05;
    }
    const double most = *std::ranges::max_element(r_hat);
    worst = std::max(worst, most);
    trust.rows.push_back({method(name).title, fmt::format("{:.3f}", median(r_hat)), fmt::format("{:.3f}", most),
                          fmt::format("{} of {}", above, seeds.size()), fmt::format("{:.0f}", median(effective)),
                          fmt::format("{:.0f}", *std::ranges::min_element(effective)),
                          fmt::format("{:.2f}", mean(acceptance)), fmt::format("{:.0f}", mean(gradients))});
  }
  std::vector<PaperRow> rows;
  for (const std::string& name : compared())
    rows.push_back({name, name == "dma" ? "0.80" : "", name == "dma" ? "1.95" : ""});
  s.tables.push_back(std::move(trust));
  s.tables.push_back(score_table(results, "exact", "All methods and the exact posterior.", "small", rows, seeds));
  Table distance{"exact_distance",
                 "Mean KL of the exact predictive to a method's, nats per point outside the data; over seeds.",
                 {"method", "to exact: median", "95 % interval", "mean", "to exact under DMA's prior means: median",
                  "mean", "seeds nearer than DMA"},
                 {}};
  std::vector<double> dma_kl;
  for (const std::string& name : own_and(kOthers)) {
    std::vector<double> kl, own;
    int nearer = 0;
    for (const std::uint64_t seed : seeds) {
      const Json& r = result_of(results, "small", name, seed);
      if (!r.at("finite").get<bool>()) continue;
      kl.push_back(predictive_kl(result_of(results, "small", "exact", seed), r));
      own.push_back(predictive_kl(result_of(results, "small", "exact-own", seed), r));
      if (name != "dma") nearer += kl.back() < dma_kl[static_cast<std::size_t>(seed - options.seed)];
    }
    if (name == "dma") dma_kl = kl;
    if (kl.empty()) continue;
    const Interval i = median_interval(kl);
    distance.rows.push_back({method(name).title, fmt::format("{:.2f}", median(kl)),
                             fmt::format("{:.2f} to {:.2f}", i.low, i.high), fmt::format("{:.2f}", mean(kl)),
                             fmt::format("{:.2f}", median(own)), fmt::format("{:.2f}", mean(own)),
                             name == "dma" ? "–" : fmt::format("{} of {}", nearer, seeds.size())});
  }
  s.tables.push_back(std::move(distance));
  const Task task = make_task("small", options.seed);
  plot::Figure figure{.title = fmt::format("seed {}", options.seed), .panels = {}};
  for (const std::string& name : own_and({"exact"}))
    figure.panels.push_back(
        predictive_panel(task, result_of(results, "small", name, options.seed), method(name).title));
  s.pictures.push_back({"exact", "The exact posterior beside the library's methods.", std::move(figure)});

  const Summary exact = summarise(results, "small", "exact", seeds),
                dma_runs = summarise(results, "small", "dma", seeds),
                linear = summarise(results, "small", "linear", seeds);
  s.claims.push_back(claim("(ours)", "the chains agree: R-hat of every output below 1.05 on every seed",
                           "no such reference", fmt::format("largest {:.3f}", worst), worst < 1.05,
                           "Longer chains are needed on the seeds the table names; medians over seeds hardly move."));
  s.claims.push_back(claim(
      "abstract, 4.3", "DMA's uncertainty is that of the posterior (mean score within 0.2 nats of the exact one)",
      "not measured",
      fmt::format("mean extrapolation NLL {:.2f}, exact {:.2f}; with noisy targets {:.2f} and {:.2f}",
                  mean(dma_runs.nll), mean(exact.nll), mean(dma_runs.noisy), mean(exact.noisy)),
      std::abs(mean(dma_runs.nll) - mean(exact.nll)) < 0.2,
      "The factorised messages lose what weights know about each other; the table of distances shows by how much."));
  const Interval a = median_interval(linear.nll), b = median_interval(exact.nll);
  s.text.push_back(fmt::format("Medians against noiseless targets do not separate: linear {} and exact {} ({}).",
                               median_text(linear.nll), median_text(exact.nll),
                               a.low <= b.high && b.low <= a.high ? "intervals overlap" : "intervals do not overlap"));
  return s;
}

}  // namespace dma::reproduce
