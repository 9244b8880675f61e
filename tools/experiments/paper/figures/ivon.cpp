// App. E.5: IVON's grid of 160 settings, its curves, and how often it diverges.
#include "tools/experiments/baselines/ivon.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tools/experiments/paper/fit_baseline.h"
#include "tools/experiments/paper/fit_network.h"
#include "tools/experiments/paper/panels.h"
#include "tools/experiments/paper/scores.h"
#include "tools/experiments/paper/summary.h"

namespace dma::reproduce {

namespace {

const std::vector<double> kIvonRates = {1e-3, 3e-3, 1e-2, 3e-2, 1e-1, 3e-1, 6e-1, 1},
                          kDecays = {0.9, 0.99, 0.999, 0.9999}, kDampings = {1e-4, 1e-3, 1e-2, 1e-1, 5e-1};
const std::vector<std::string> kMethods = {"ivon", "ivon-tuned"};

std::string grid_name(std::size_t damping, std::uint64_t seed) {
  return fmt::format("small.ivon-grid.{}.{}", damping, seed);
}

// Every rate and decay at one damping: the last training NLL, and the curve.
Json grid_row(double damping, std::uint64_t seed, int epochs) {
  const Task task = make_task("small", seed);
  const baselines::Network network = network_of(task);
  const baselines::Energy energy(network, task.data.inputs, task.data.targets, task.data.noise,
                                 baselines::WeightPrior::none(network));
  const Eigen::VectorXd start = prior_means(task, seed);
  Json rows = Json::array();
  for (const double rate : kIvonRates)
    for (const double decay : kDecays) {
      std::vector<double> curve;
      const auto state = baselines::ivon(energy, {.rate = rate, .second_decay = decay, .damping = damping}, epochs,
                                         start, seed, [&](int, const baselines::IvonState& s) {
                                           curve.push_back(energy.mean_nll(s.mean));
                                           return true;
                                         });
      const double last = state.finite && !curve.empty() ? curve.back() : INFINITY;
      Json row = {{"rate", rate}, {"decay", decay}, {"damping", damping}, {"last", json_number(last)}};
      row["curve"] = Json::array();
      for (std::size_t i = 0; i < curve.size(); i += 5)
        row["curve"].push_back(json_number(std::round(1e4 * curve[i]) / 1e4));
      rows.push_back(std::move(row));
    }
  return rows;
}

struct Setting {
  double rate, decay, damping, last;
  const Json* curve;
};

std::vector<Setting> settings(const Results& results, std::uint64_t seed) {
  std::vector<Setting> all;
  for (std::size_t d = 0; d < kDampings.size(); ++d)
    for (const Json& row : results.at(grid_name(d, seed)))
      all.push_back({row.at("rate"), row.at("decay"), row.at("damping"), value_of(row, "last"), &row.at("curve")});
  return all;
}

int below_one(const std::vector<Setting>& all) {
  int count = 0;
  for (const Setting& s : all) count += s.last < 1;
  return count;
}

}  // namespace

std::vector<Unit> ivon_units(const Options& options) {
  std::vector<Unit> units = fit_units(options, "small", own_and(kMethods), options.all_seeds());
  const int epochs = options.effort().ivon_epochs;
  for (std::size_t d = 0; d < kDampings.size(); ++d)
    units.push_back({grid_name(d, options.seed), fmt::format("{} epochs", epochs),
                     [=, seed = options.seed] { return grid_row(kDampings[d], seed, epochs); }});
  return units;
}

Section ivon_report(const Options& options, const Results& results) {
  const auto seeds = options.all_seeds();
  Section s{"ivon", "Appendix E.5: IVON"};
  s.text.push_back(
      "IVON as published (Shen et al. 2024, Algorithm 1; first momentum 0.9, curvature starts at 1), one sampled "
      "gradient on all rows per step; the rate is multiplied by the first curvature plus the damping, as in its "
      "authors' program. The paper speaks of 128, 160 and 54 settings; its lists have 8 x 4 x 5 = 160. A run counts as "
      "diverged when it left the numbers or when its training NLL is above 10,000 nats.");
  s.text.push_back(fmt::format(
      "*Tuned on other seeds* is rate {:g}, beta_2 {:g}, damping {:g}: of the 160 settings the best by the score it is "
      "judged by, outside the data, on seeds 10001 to 10040, which are scored nowhere (measured once, 2026-11-15).",
      kTunedIvon.rate, kTunedIvon.second_decay, kTunedIvon.damping));
  const std::vector<Setting> all_settings = settings(results, options.seed);
  const Setting* best = &all_settings[0];
  for (const Setting& one : all_settings)
    if (one.last < best->last) best = &one;
  plot::Panel curves{.title = "best setting of each rate",
                     .x = {.label = "epoch",
                           .scale = plot::Scale::log,
                           .low = 1,
                           .high = static_cast<double>(options.effort().ivon_epochs)},
                     .y = {"training NLL + 0.5", plot::Scale::log}};
  std::size_t line = 0;
  for (const double rate : {1e-3, 1e-2, 1e-1, best->rate}) {
    const Setting* of_rate = nullptr;
    for (const Setting& one : all_settings)
      if (one.rate == rate && (of_rate == nullptr || one.last < of_rate->last)) of_rate = &one;
    plot::Series series{
        .title = fmt::format("rate {:g}, beta_2 {:g}, damping {:g}", rate, of_rate->decay, of_rate->damping),
        .colour = colour(++line)};
    for (const double nll : values_of(*of_rate->curve))
      series.x.push_back(1 + 5.0 * static_cast<double>(series.x.size())), series.y.push_back(nll + 0.5);
    curves.series.push_back(std::move(series));
  }
  plot::Series own{.title = "DMA", .style = plot::Style::line_points, .colour = plot::Colour::black};
  for (const double nll : values_of(result_of(results, "small", "dma", options.seed).at("curve")))
    own.x.push_back(static_cast<double>(own.x.size() + 1)), own.y.push_back(nll + 0.5);
  curves.series.push_back(std::move(own));
  const Task task = make_task("small", options.seed);
  plot::Figure figure{.title = fmt::format("E.5, seed {}", options.seed), .panels = {curves}};
  const Json& tuned = result_of(results, "small", "ivon-tuned", options.seed);
  if (tuned.contains("picture")) figure.panels.push_back(predictive_panel(task, tuned, method("ivon-tuned").title));
  s.pictures.push_back({"ivon", "Left: convergence. Right: IVON's predictive with the setting tuned on other seeds.",
                        std::move(figure)});

  bool all_damped = true;
  for (const Setting& one : all_settings) all_damped = all_damped && (one.last >= 1 || one.damping >= 0.1);
  s.claims.push_back(
      claim("E.5", "only 26 of 160 settings end below a training NLL of 1", "26",
            fmt::format("{}", below_one(all_settings)), std::abs(below_one(all_settings) - 26) <= 5,
            "With IVON's published constants another number works. The paper names neither the scale of the loss, "
            "nor the first curvature, nor the momentum; which of them differs is not known."));
  s.claims.push_back(claim("E.5", "all of them need a damping of at least 0.1", "all", all_damped ? "all" : "not all",
                           all_damped, "As above."));
  s.claims.push_back(claim(
      "E.5", "best training NLL of the grid", "-0.31",
      fmt::format("{:.2f} (rate {:g}, beta_2 {:g}, damping {:g})", best->last, best->rate, best->decay, best->damping),
      std::abs(best->last + 0.31) < 0.1, "Conjecture: another seed has another floor; that of this one is not known."));
  const Summary robust = summarise(results, "small", "ivon", seeds),
                good = summarise(results, "small", "ivon-tuned", seeds),
                dma_runs = summarise(results, "small", "dma", seeds);
  s.claims.push_back(claim("E.5", "rate 0.6, beta_2 0.9999, damping 0.1 diverges on most seeds", "14 of 20",
                           fmt::format("{} of {}", robust.diverged, robust.runs), 2 * robust.diverged > robust.runs,
                           "See the grid."));
  s.claims.push_back(claim("E.5", "IVON is unreliable even with the best setting of an exhaustive search",
                           "14 of 20 diverge", fmt::format("{} of {} with {}", good.diverged, good.runs, good.title),
                           2 * good.diverged > good.runs,
                           "A setting chosen on seeds that are not scored holds. Conjecture: the paper's, the lowest "
                           "training NLL of one seed, is at a rate on the edge of stability."));
  s.claims.push_back(
      claim("E.5", "DMA extrapolates better than IVON where IVON is finite", "0.79 < 2.11",
            fmt::format("{} against {}", median_text(dma_runs.nll), good.nll.empty() ? "–" : median_text(good.nll)),
            good.nll.empty() || median(dma_runs.nll) < median(good.nll),
            "With a setting tuned on other seeds IVON is a fair baseline."));
  return s;
}

}  // namespace dma::reproduce
