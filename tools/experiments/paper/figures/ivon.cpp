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
const std::vector<std::string> kMethods = {"ivon", "ivon-raw", "ivon-tuned"};

std::string grid_name(bool rescaled, std::size_t damping, std::uint64_t seed) {
  return fmt::format("small.ivon-grid.{}.{}.{}", rescaled ? "rescaled" : "raw", damping, seed);
}

// Every rate and decay at one damping: lowest and last training NLL, and the curve.
Json grid_row(bool rescaled, double damping, std::uint64_t seed, int epochs) {
  const Task task = make_task("small", seed);
  const baselines::Network network = network_of(task);
  const baselines::Energy energy(network, task.data.inputs, task.data.targets, task.data.noise,
                                 baselines::WeightPrior::none(network));
  const Eigen::VectorXd start = prior_means(task, seed);
  Json rows = Json::array();
  for (const double rate : kIvonRates)
    for (const double decay : kDecays) {
      double lowest = INFINITY;
      std::vector<double> curve;
      const auto state =
          baselines::ivon(energy, {.rate = rate, .second_decay = decay, .damping = damping, .rescale_rate = rescaled},
                          epochs, start, seed, [&](int, const baselines::IvonState& s) {
                            curve.push_back(energy.mean_nll(s.mean));
                            lowest = std::min(lowest, curve.back());
                            return true;
                          });
      const double last = state.finite && !curve.empty() ? curve.back() : INFINITY;
      Json row = {{"rate", rate},
                  {"decay", decay},
                  {"damping", damping},
                  {"lowest", json_number(lowest)},
                  {"last", json_number(last)}};
      row["curve"] = Json::array();
      for (std::size_t i = 0; i < curve.size(); i += 5)
        row["curve"].push_back(json_number(std::round(1e4 * curve[i]) / 1e4));
      rows.push_back(std::move(row));
    }
  return rows;
}

std::string sweep_name(std::size_t damping) { return fmt::format("small.ivon-sweep.{}", damping); }

// The same settings on the seeds for tuning: how many runs diverged, and of the others the mean NLL outside the data.
Json sweep_row(double damping, const Effort& effort) {
  Json rows = Json::array();
  for (const double rate : kIvonRates)
    for (const double decay : kDecays) {
      std::vector<double> nll, train;
      const Method ivon = ivon_method("", "", {.rate = rate, .second_decay = decay, .damping = damping});
      for (std::uint64_t seed = kFirstTuningSeed; seed < kFirstTuningSeed + kTuningSeeds; ++seed) {
        const Task task = make_task("small", seed);
        const Fitted fitted = ivon.fit(task, seed, effort);
        if (!fitted.finite || !(fitted.curve.back() < kDivergedNll)) continue;
        const std::vector<double> x = task.outside(kExtrapolationPoints);
        nll.push_back(-fitted.predict(task.features(x)).log_density(task.truth(x)).mean());
        train.push_back(fitted.curve.back());
      }
      rows.push_back({{"rate", rate},
                      {"decay", decay},
                      {"damping", damping},
                      {"diverged", kTuningSeeds - static_cast<int>(nll.size())},
                      {"mean", json_number(nll.empty() ? INFINITY : mean(nll))},
                      {"train", json_number(train.empty() ? INFINITY : mean(train))}});
    }
  return rows;
}

Effort sweep_effort() {
  Effort effort;
  effort.posterior_samples = 200;  // enough to rank settings
  return effort;
}

// What the sweep says of the setting that is used.
std::string sweep_text(const Results& results) {
  const Json *best = nullptr, *used = nullptr;
  int steady = 0;
  for (std::size_t d = 0; d < kDampings.size(); ++d)
    for (const Json& row : results.at(sweep_name(d))) {
      if (row.at("rate") == kTunedIvon.rate && row.at("decay") == kTunedIvon.second_decay &&
          row.at("damping") == kTunedIvon.damping)
        used = &row;
      if (row.at("diverged") > 0) continue;
      ++steady;
      if (best == nullptr || value_of(row, "mean") < value_of(*best, "mean")) best = &row;
    }
  const auto text = [](const Json& row) {
    return fmt::format(
        "rate {:g}, beta_2 {:g}, damping {:g} (mean NLL outside the data {:.2f}, of training {:.2f}, {} of {} "
        "diverged)",
        row.at("rate").get<double>(), row.at("decay").get<double>(), row.at("damping").get<double>(),
        value_of(row, "mean"), value_of(row, "train"), row.at("diverged").get<int>(), kTuningSeeds);
  };
  return fmt::format(
      "*Tuned on other seeds* is {}. It is chosen among all 160 settings by the very score it is judged by, outside "
      "the "
      "data, on seeds {} to {}, which are scored nowhere; {} settings have no run that diverged there. {}",
      text(*used), kFirstTuningSeed, kFirstTuningSeed + kTuningSeeds - 1, steady,
      best == used      ? "It is the best of them."
      : best == nullptr ? "None is better."
                        : fmt::format("In this run {} is better.", text(*best)));
}

struct Setting {
  double rate, decay, damping, lowest, last;
  const Json* curve;
};

std::vector<Setting> settings(const Results& results, bool rescaled, std::uint64_t seed) {
  std::vector<Setting> all;
  for (std::size_t d = 0; d < kDampings.size(); ++d)
    for (const Json& row : results.at(grid_name(rescaled, d, seed)))
      all.push_back({row.at("rate"), row.at("decay"), row.at("damping"), value_of(row, "lowest"), value_of(row, "last"),
                     &row.at("curve")});
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
  for (const bool rescaled : {true, false})
    for (std::size_t d = 0; d < kDampings.size(); ++d)
      units.push_back({grid_name(rescaled, d, options.seed), fmt::format("{} epochs", epochs),
                       [=, seed = options.seed] { return grid_row(rescaled, kDampings[d], seed, epochs); }});
  if (!options.quick)
    for (std::size_t d = 0; d < kDampings.size(); ++d)
      units.push_back({sweep_name(d), sweep_effort().text(), [d] { return sweep_row(kDampings[d], sweep_effort()); }});
  return units;
}

Section ivon_report(const Options& options, const Results& results) {
  const auto seeds = options.all_seeds();
  Section s{"ivon", "Appendix E.5: IVON"};
  s.text.push_back(
      "IVON as published (Shen et al. 2024, Algorithm 1; first momentum 0.9, curvature starts at 1), one sampled "
      "gradient on all rows a step. Its "
      "authors' program multiplies the rate by the first curvature plus the damping; the paper does not say whether "
      "theirs does, so both are run. "
      "The paper speaks of 128, 160 and 54 settings; its lists have 8 x 4 x 5 = 160. A run counts as diverged when it "
      "left the numbers or when its "
      "training NLL is above 10,000 nats.");
  s.text.push_back(options.quick ? "The sweep that *tuned on other seeds* comes from is left out of a quick run."
                                 : sweep_text(results));
  Table grid{
      "ivon_grid",
      fmt::format("The 160 settings on seed {}: lowest training NLL over the epochs, rate rescaled.", options.seed),
      {"damping", "beta_2"},
      {}};
  for (const double rate : kIvonRates) grid.columns.push_back(fmt::format("rate {:g}", rate));
  const std::vector<Setting> rescaled = settings(results, true, options.seed),
                             raw = settings(results, false, options.seed);
  for (const double damping : kDampings)
    for (const double decay : kDecays) {
      std::vector<std::string> row = {fmt::format("{:g}", damping), fmt::format("{:g}", decay)};
      for (const double rate : kIvonRates)
        for (const Setting& one : rescaled)
          if (one.rate == rate && one.decay == decay && one.damping == damping)
            row.push_back(one.lowest < 1000 ? fmt::format("{:.2f}{}", one.lowest, one.last < 1 ? "" : " (ends higher)")
                                            : "–");
      grid.rows.push_back(std::move(row));
    }
  std::vector<PaperRow> rows;
  for (const std::string& name : own_methods())
    rows.push_back({name, name == "dma" ? "0.79" : "", name == "dma" ? "1.28" : ""});
  for (const std::string& name : kMethods)
    rows.push_back({name, name == "ivon" ? "2.11 (of 6 finite)" : "", name == "ivon" ? "5.27" : ""});
  s.tables.push_back(
      score_table(results, "ivon", fmt::format("IVON over {} seeds.", seeds.size()), "small", rows, seeds));
  s.tables.push_back(std::move(grid));

  const Setting* best = &rescaled[0];
  for (const Setting& one : rescaled)
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
    for (const Setting& one : rescaled)
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
  for (const Setting& one : rescaled) all_damped = all_damped && (one.last >= 1 || one.damping >= 0.1);
  s.claims.push_back(
      claim("E.5", "only 26 of 160 settings end below a training NLL of 1", "26",
            fmt::format("{} (rate rescaled), {} (not rescaled)", below_one(rescaled), below_one(raw)),
            std::abs(below_one(rescaled) - 26) <= 5 || std::abs(below_one(raw) - 26) <= 5,
            "With IVON's published constants another number works. The paper names neither the scale of the loss, "
            "nor the first curvature, nor the momentum; which of them differs is not known."));
  s.claims.push_back(claim("E.5", "all of them need a damping of at least 0.1", "all", all_damped ? "all" : "not all",
                           all_damped, "As above."));
  s.claims.push_back(claim(
      "E.5", "best training NLL of the grid", "-0.31",
      fmt::format("{:.2f} (rate {:g}, beta_2 {:g}, damping {:g})", best->last, best->rate, best->decay, best->damping),
      std::abs(best->last + 0.31) < 0.1, "Conjecture: another seed has another floor; that of this one is not known."));
  const Summary robust = summarise(results, "small", "ivon", seeds),
                other = summarise(results, "small", "ivon-raw", seeds),
                good = summarise(results, "small", "ivon-tuned", seeds),
                dma_runs = summarise(results, "small", "dma", seeds);
  s.claims.push_back(claim("E.5", "rate 0.6, beta_2 0.9999, damping 0.1 diverges on most seeds", "14 of 20",
                           fmt::format("{} of {} (not rescaled: {})", robust.diverged, robust.runs, other.diverged),
                           2 * robust.diverged > robust.runs, "See the grid."));
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
