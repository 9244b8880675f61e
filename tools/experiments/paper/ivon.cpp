// App. E.5: IVON's grid of 160 settings, its curves, and how often it diverges.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tools/experiments/paper/figures.h"
#include "tools/experiments/paper/scores.h"

namespace dma::reproduce {

namespace {

constexpr double kIvonRates[] = {1e-3, 3e-3, 1e-2, 3e-2, 1e-1, 3e-1, 6e-1, 1}, kDecays[] = {0.9, 0.99, 0.999, 0.9999},
                 kDampings[] = {1e-4, 1e-3, 1e-2, 1e-1, 5e-1};

std::string grid_name(std::size_t damping, std::uint64_t seed) {
  return fmt::format("small.ivon-grid.{}.{}", damping, seed);
}

// Every rate and decay at one damping: the last training NLL, and the curve.
Json grid_row(double damping, std::uint64_t seed, int epochs) {
  const Task task = make_task("small", seed);
  const baselines::Energy energy = likelihood_of(task);
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
  std::string text() const { return fmt::format("rate {:g}, beta_2 {:g}, damping {:g}", rate, decay, damping); }
};

std::vector<Setting> settings(const Writer& w) {
  std::vector<Setting> all;
  for (std::size_t d = 0; d < std::size(kDampings); ++d)
    for (const Json& row : w.results.at(grid_name(d, w.options.seed)))
      all.push_back(
          {row.at("rate"), row.at("decay"), row.at("damping"), json_number(row.at("last")), &row.at("curve")});
  return all;
}

plot::Panel grid_panel(const Writer& w, const std::vector<Setting>& all, const Setting& best) {
  plot::Panel panel{.title = "best setting of each rate",
                    .x = {.label = "epoch",
                          .scale = plot::Scale::log,
                          .low = 1,
                          .high = static_cast<double>(w.options.effort().ivon_epochs)},
                    .y = {"training NLL + 0.5", plot::Scale::log}};
  const auto add = [&](plot::Series series, const Json& curve, double step) {
    for (const double nll : numbers_in(curve)) {
      series.x.push_back(1 + step * static_cast<double>(series.x.size()));
      series.y.push_back(nll + 0.5);
    }
    panel.series.push_back(std::move(series));
  };
  for (const double rate : {1e-3, 1e-2, 1e-1, best.rate}) {
    const Setting* of_rate = nullptr;
    for (const Setting& one : all)
      if (one.rate == rate && (of_rate == nullptr || one.last < of_rate->last)) of_rate = &one;
    add({.title = of_rate->text(), .colour = colour(panel.series.size() + 1)}, *of_rate->curve, 5);
  }
  add({.title = "DMA", .style = plot::Style::line_points, .colour = plot::Colour::black}, w.result("dma").at("curve"),
      1);
  return panel;
}

}  // namespace

std::vector<Unit> ivon_grid(const Options& options) {
  std::vector<Unit> units;
  const int epochs = options.effort().ivon_epochs;
  for (std::size_t d = 0; d < std::size(kDampings); ++d)
    units.push_back({grid_name(d, options.seed), fmt::format("{} epochs", epochs),
                     [=, seed = options.seed] { return grid_row(kDampings[d], seed, epochs); }});
  return units;
}

void write_ivon(Writer& w) {
  w.text(
      "IVON as published (Shen et al. 2024, Algorithm 1; first momentum 0.9, curvature starts at 1), one sampled "
      "gradient on all rows per step; the rate is multiplied by the first curvature plus the damping, as in its "
      "authors' program. The paper speaks of 128, 160 and 54 settings; its lists have 8 x 4 x 5 = 160. A run counts as "
      "diverged when it left the numbers or when its training NLL is above 10,000 nats.");
  w.text(fmt::format(
      "*Tuned on other seeds* is {}: of the 160 settings the best by the score it is judged by, outside the data, on "
      "seeds 10001 to 10040, which are scored nowhere (measured once, 2026-11-15).",
      Setting{kTunedIvon.rate, kTunedIvon.second_decay, kTunedIvon.damping, 0, nullptr}.text()));
  const std::vector<Setting> all = settings(w);
  const Setting best = *std::ranges::min_element(all, {}, &Setting::last);
  plot::Figure figure{.title = fmt::format("E.5, seed {}", w.options.seed), .panels = {grid_panel(w, all, best)}};
  if (w.result("ivon-tuned").contains("picture"))
    figure.panels.push_back(w.predictive("ivon-tuned", method("ivon-tuned").title));
  w.picture("ivon", "Left: convergence. Right: IVON's predictive with the setting tuned on other seeds.",
            std::move(figure));

  const auto below_one = std::ranges::count_if(all, [](const Setting& s) { return s.last < 1; });
  const bool all_damped = std::ranges::all_of(all, [](const Setting& s) { return s.last >= 1 || s.damping >= 0.1; });
  w.claim("E.5", "only 26 of 160 settings end below a training NLL of 1", "26", fmt::format("{}", below_one),
          std::abs(below_one - 26) <= 5,
          "With IVON's published constants another number works. The paper names neither the scale of the loss, nor "
          "the first curvature, nor the momentum; which of them differs is not known.");
  w.claim("E.5", "all of them need a damping of at least 0.1", "all", all_damped ? "all" : "not all", all_damped,
          "As above.");
  w.claim("E.5", "best training NLL of the grid", "-0.31", fmt::format("{:.2f} ({})", best.last, best.text()),
          std::abs(best.last + 0.31) < 0.1,
          "Conjecture: another seed has another floor; that of this one is not known.");
  const Summary &robust = w.runs("ivon"), &good = w.runs("ivon-tuned");
  const std::vector<double>& own = w.runs("dma").nll;
  w.claim("E.5", "rate 0.6, beta_2 0.9999, damping 0.1 diverges on most seeds", "14 of 20",
          fmt::format("{} of {}", robust.diverged, robust.runs), 2 * robust.diverged > robust.runs, "See the grid.");
  w.claim("E.5", "IVON is unreliable even with the best setting of an exhaustive search", "14 of 20 diverge",
          fmt::format("{} of {} with {}", good.diverged, good.runs, good.title), 2 * good.diverged > good.runs,
          "A setting chosen on seeds that are not scored holds. Conjecture: the paper's, the lowest training NLL of "
          "one seed, is at a rate on the edge of stability.");
  w.claim("E.5", "DMA extrapolates better than IVON where IVON is finite", "0.79 < 2.11",
          fmt::format("{} against {}", median_text(own), good.nll.empty() ? "–" : median_text(good.nll)),
          good.nll.empty() || median(own) < median(good.nll),
          "With a setting tuned on other seeds IVON is a fair baseline.");
}

}  // namespace dma::reproduce
