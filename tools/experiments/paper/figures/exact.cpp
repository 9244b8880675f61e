// The exact posterior by long Hamiltonian Monte Carlo, and every method's distance to it: what the paper lacks.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tools/experiments/paper/panels.h"
#include "tools/experiments/paper/scores.h"
#include "tools/experiments/paper/summary.h"

namespace dma::reproduce {

namespace {

const std::vector<std::string> kBesideExact = {"laplace", "ivon-tuned", "adam-0.1", "adamw-0.1-1", "linear"};
const std::vector<std::string> kDataPrior = {"dma-prior", "laplace-prior", "joint", "joint-one", "joint-linear"};
constexpr double kJointMark = 0.20, kJointCoverage = 0.95, kJointLoss = 0.06;
const std::vector<std::string> kExact = {"exact", "exact-own"};

// All but the exact ones.
std::vector<std::string> approximate() {
  std::vector<std::string> all = own_and(kBesideExact);
  all.insert(all.end(), kDataPrior.begin(), kDataPrior.end());
  return all;
}

Table trust_table(const Options& options, const Results& results, double& worst) {
  const auto seeds = options.all_seeds();
  Table trust{fmt::format("Hamiltonian Monte Carlo over {} seeds: {}.", seeds.size(), options.effort().text()),
              {"posterior", "largest R-hat, median over seeds", "worst seed", "seeds above 1.05",
               "effective samples, median", "worst seed", "acceptance", "gradients per seed"},
              {}};
  for (const std::string& name : kExact) {
    std::vector<double> r_hat, effective, acceptance, gradients;
    int above = 0;
    for (const std::uint64_t seed : seeds) {
      const Json& r = result_of(results, "small", name, seed);
      r_hat.push_back(value_of(r, "r_hat"));
      effective.push_back(value_of(r, "effective_samples"));
      acceptance.push_back(value_of(r, "acceptance"));
      gradients.push_back(value_of(r, "gradients"));
      above += r_hat.back() > 1.05;
    }
    const double most = *std::ranges::max_element(r_hat);
    worst = std::max(worst, most);
    trust.rows.push_back({method(name).title, fmt::format("{:.3f}", median(r_hat)), fmt::format("{:.3f}", most),
                          fmt::format("{} of {}", above, seeds.size()), fmt::format("{:.0f}", median(effective)),
                          fmt::format("{:.0f}", *std::ranges::min_element(effective)),
                          fmt::format("{:.2f}", mean(acceptance)), fmt::format("{:.0f}", mean(gradients))});
  }
  return trust;
}

Table distance_table(const Options& options, const Results& results, double noise) {
  const auto seeds = options.all_seeds();
  Table distance{"Mean KL of the exact predictive to a method's, nats per point outside the data; over seeds.",
                 {"method", "to exact: median", "95 % interval", "mean", "to exact under DMA's prior means: median",
                  "mean", "seeds nearer than DMA"},
                 {}};
  std::vector<double> dma_kl;
  for (const std::string& name : approximate()) {
    std::vector<double> kl, own;
    int nearer = 0;
    for (const std::uint64_t seed : seeds) {
      const Json& r = result_of(results, "small", name, seed);
      if (!r.at("finite").get<bool>()) continue;
      kl.push_back(predictive_kl(result_of(results, "small", "exact", seed), r, noise));
      own.push_back(predictive_kl(result_of(results, "small", "exact-own", seed), r, noise));
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
  return distance;
}

}  // namespace

std::vector<Unit> exact_units(const Options& options) {
  // The longest first, so that no thread is left with one at the end.
  std::vector<Unit> units = fit_units(options, "small", kExact, options.all_seeds());
  const std::vector<Unit> others = fit_units(options, "small", approximate(), options.all_seeds());
  units.insert(units.end(), others.begin(), others.end());
  return units;
}

Section exact_report(const Options& options, const Results& results) {
  const auto seeds = options.all_seeds();
  Section s{"exact", "The exact posterior, which the paper lacks"};
  s.text.push_back(
      "`exact` samples the posterior under the prior the data come from, N(0, 4/(3 fan_in)); `exact, DMA's prior "
      "means` under the prior that DMA is given, random means with variance 1/(3 fan_in): the difference of the two is "
      "what those means do, the distance of DMA to the second is what its messages do. R-hat and effective samples are "
      "the worst over the network's output at 70 inputs, inside and outside the data.");
  double worst = 1;
  Table trust = trust_table(options, results, worst);
  std::vector<std::string> own_priors = own_and(kBesideExact), data_prior = kDataPrior;
  own_priors.insert(own_priors.end(), kExact.begin(), kExact.end());
  data_prior.push_back("exact");
  s.tables.push_back(std::move(trust));
  s.tables.push_back(score_table(results, "All methods, each with its own prior, and the exact posterior.", "small",
                                 own_priors, seeds, {{"dma", "0.80", "1.95"}}));
  s.tables.push_back(score_table(results,
                                 "The same prior for all: N(0, 4/(3 fan-in)) on every weight, the one the data come "
                                 "from. `joint` learns one Gaussian over all weights around a mode; with slopes 1 the "
                                 "network is linear in the features.",
                                 "small", data_prior, seeds));
  s.tables.push_back(distance_table(options, results, make_task("small", options.seed).data.noise));
  s.pictures.push_back({"exact", "The exact posterior beside the library's methods.",
                        predictive_figure(options, results, "Outside the data", "small", own_and({"joint", "exact"}))});

  const Summary exact = summarise(results, "small", "exact", seeds),
                dma_runs = summarise(results, "small", "dma", seeds),
                linear = summarise(results, "small", "linear", seeds),
                exact_own = summarise(results, "small", "exact-own", seeds),
                joint = summarise(results, "small", "joint", seeds),
                dma_prior = summarise(results, "small", "dma-prior", seeds),
                slopes_1 = summarise(results, "small", "joint-linear", seeds);
  s.claims.push_back(claim(Claim::kOurs, "the chains agree: R-hat of every output below 1.05 on every seed",
                           "no such reference", fmt::format("largest {:.3f}", worst), worst < 1.05,
                           "Longer chains are needed on the seeds the table counts."));
  s.claims.push_back(
      claim("abstract, 4.3", "DMA's uncertainty is that of the posterior (mean score within 0.2 nats of the exact one)",
            "not measured",
            fmt::format("mean extrapolation NLL {:.2f}, exact {:.2f}; with noisy targets {:.2f} and {:.2f}",
                        mean(dma_runs.nll), mean(exact.nll), mean(dma_runs.noisy), mean(exact.noisy)),
            std::abs(mean(dma_runs.nll) - mean(exact.nll)) < 0.2,
            fmt::format("Under DMA's own prior means the exact posterior has {:.2f}. One Gaussian over all weights, "
                        "which keeps what weights "
                        "know about each other, has {:.2f} under the data's prior, DMA {:.2f}.",
                        mean(exact_own.nll), mean(joint.nll), mean(dma_prior.nll))));
  s.claims.push_back(claim(
      Claim::kOurs,
      "`joint` under the data's prior: mean extrapolation NLL at most 0.20, coverage of 95 % intervals at least 0.95",
      "no such method",
      fmt::format("{:.2f} and {:.2f}; with slopes 1 {:.2f} and {:.2f}; exact {:.2f} and {:.2f}", mean(joint.nll),
                  mean(joint.coverage_95), mean(slopes_1.nll), mean(slopes_1.coverage_95), mean(exact.nll),
                  mean(exact.coverage_95)),
      mean(joint.nll) <= kJointMark && mean(joint.coverage_95) >= kJointCoverage,
      fmt::format("The exact posterior itself has {:.3f} on these seeds, joint {:.3f}.", mean(exact.nll),
                  mean(joint.nll))));
  s.claims.push_back(claim(
      Claim::kOurs,
      fmt::format(
          "the same, measured by the exact posterior on the same seeds: mean extrapolation NLL at most {} above",
          kJointLoss),
      "no such method", fmt::format("{:+.3f}", mean(joint.nll) - mean(exact.nll)),
      mean(joint.nll) - mean(exact.nll) <= kJointLoss, "One Gaussian around each of four modes is not the posterior."));
  const Interval a = median_interval(linear.nll), b = median_interval(exact.nll);
  s.text.push_back(fmt::format("Medians against noiseless targets do not separate: linear {} and exact {} ({}).",
                               median_text(linear.nll), median_text(exact.nll),
                               a.low <= b.high && b.low <= a.high ? "intervals overlap" : "intervals do not overlap"));
  return s;
}

}  // namespace dma::reproduce
