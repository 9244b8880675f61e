#include "tools/experiments/paper/writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "engine/support/text.h"
#include "tools/experiments/paper/scores.h"

namespace dma::reproduce {

using plot::Colour;
using plot::Series;
using plot::Style;

Effort Options::effort() const {
  if (!quick) return {};
  return {.hmc_chains = 2,
          .hmc_warm_up = 400,
          .hmc_samples = 600,
          .hmc_longest = 48,
          .posterior_samples = 200,
          .ivon_epochs = 100,
          .epochs = 40};
}

std::vector<std::uint64_t> Experiment::seeds(const Options& options) const {
  std::vector<std::uint64_t> all;
  const std::size_t most = options.quick ? quick_seeds : most_seeds;
  while (all.size() < std::min(most, static_cast<std::size_t>(options.seeds))) all.push_back(options.seed + all.size());
  return all;
}

std::vector<Unit> Experiment::units(const Options& options) const {
  std::vector<Unit> units;
  for (const std::string& method : methods)
    if (!options.quick || std::ranges::find(not_quick, method) == not_quick.end())
      for (const std::uint64_t seed : seeds(options))
        units.push_back(fit_unit(task, method, seed, options.effort(), seed == options.seed));
  if (more_units != nullptr) std::ranges::move(more_units(options), std::back_inserter(units));
  return units;
}

Section Experiment::section(const Options& options, const Results& results) const {
  Writer writer(*this, options, results);
  write(writer);
  return std::move(writer.section);
}

Writer::Writer(const Experiment& experiment, const Options& own_options, const Results& own_results)
    : options(own_options),
      results(own_results),
      seeds(experiment.seeds(own_options)),
      task(experiment.task.empty() ? Task{} : make_task(experiment.task, own_options.seed)),
      section{experiment.name, experiment.heading} {}

const Json& Writer::result(const std::string& method, std::uint64_t seed) const {
  const std::string name = fit_name(task.name, method, seed);
  const auto found = results.find(name);
  if (found == results.end()) fail("the result of unit '{}' is missing", name);
  return found->second;
}

std::vector<double> Writer::each(const std::string& method, const char* key) const {
  std::vector<double> values;
  for (const std::uint64_t seed : seeds) values.push_back(json_number(result(method, seed).at(key)));
  return values;
}

std::vector<double> Writer::each(const std::string& method, const char* where, const char* key) const {
  std::vector<double> values;
  for (const std::uint64_t seed : seeds) values.push_back(json_number(result(method, seed).at(where).at(key)));
  return values;
}

const Summary& Writer::runs(const std::string& name) {
  const auto [found, is_new] = runs_.try_emplace(name, Summary{.title = method(name).title});
  Summary& s = found->second;
  if (!is_new) return s;
  for (const std::uint64_t seed : seeds) {
    const Json& r = result(name, seed);
    ++s.runs;
    if (!r.at("finite").get<bool>() || !(json_number(r.at("train_nll")) < kDivergedNll)) {
      ++s.diverged;
      continue;
    }
    s.epochs.push_back(json_number(r.at("epochs")));
    s.train.push_back(json_number(r.at("train_nll")));
    s.nll.push_back(json_number(r.at("extrapolation_nll")));
    s.noisy.push_back(json_number(r.at("noisy_nll")));
    s.deviation.push_back(json_number(r.at("outside").at("deviation")));
    s.coverage_95.push_back(json_number(r.at("outside").at("coverage_95")));
  }
  return s;
}

void Writer::claim(std::string where, std::string text, std::string paper, std::string ours, bool holds,
                   std::string why) {
  if (why.empty()) why = why_not;
  section.claims.push_back(
      {std::move(where), std::move(text), std::move(paper), std::move(ours), holds, holds ? "" : std::move(why)});
}

void Writer::median_claim(std::string where, std::string text, double paper, const std::vector<double>& ours,
                          std::string why) {
  claim(std::move(where), std::move(text), fmt::format("{:g}", paper),
        ours.empty() ? "no finite run" : median_text(ours), !ours.empty() && median_interval(ours).holds(paper),
        std::move(why));
}

void Writer::picture(std::string name, std::string caption, plot::Figure figure) {
  section.pictures.push_back({std::move(name), std::move(caption), std::move(figure)});
}

void Writer::score_table(std::string caption, const std::vector<std::string>& methods,
                         const std::vector<PaperRow>& paper) {
  Table table{std::move(caption),
              {"method", "epochs", "train NLL", "extrapolation NLL: median", "95 % interval", "IQR", "mean",
               "paper: median", "paper: IQR", "noisy targets: median", "noisy targets: mean", "coverage deviation",
               "95 % coverage", "diverged"}};
  for (const std::string& name : methods) {
    const Summary& s = runs(name);
    const auto found = std::ranges::find(paper, name, &PaperRow::method);
    const PaperRow row = found == paper.end() ? PaperRow{name, {}, {}} : *found;
    std::vector<std::string>& cells = table.rows.emplace_back(1, s.title);
    if (s.nll.empty()) {
      cells.insert(cells.end(), 12, "–");
    } else {
      const double epochs = median(s.epochs);
      cells.insert(cells.end(),
                   {epochs == 0 ? "–" : fmt::format("{:g}", epochs), two_digits(median(s.train)),
                    two_digits(median(s.nll)), median_interval(s.nll).text(), two_digits(interquartile_range(s.nll)),
                    two_digits(mean(s.nll)), row.median, row.iqr, two_digits(median(s.noisy)),
                    two_digits(mean(s.noisy)), two_digits(median(s.deviation)), two_digits(mean(s.coverage_95))});
    }
    cells.push_back(fmt::format("{} of {}", s.diverged, s.runs));
  }
  section.tables.push_back(std::move(table));
}

plot::Panel Writer::predictive(const std::string& name, const std::string& title, std::size_t output) const {
  const std::vector<double> x = task.everywhere(kPicturePoints);
  const Eigen::MatrixXd truth = task.truth(x);
  const auto outputs = static_cast<std::size_t>(truth.cols());
  const Json& drawn = result(name).at("picture");
  const std::vector<double> means = numbers_in(drawn.at("mean")), sds = numbers_in(drawn.at("sd"));
  std::vector<double> mean, low, high, function;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double m = means[i * outputs + output], sd = sds[i * outputs + output];
    mean.push_back(m);
    low.push_back(m - 2 * sd);
    high.push_back(m + 2 * sd);
    function.push_back(truth(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(output)));
  }
  const auto column = task.data.targets.col(static_cast<Eigen::Index>(output));
  // Some of many points are enough to show where they lie.
  constexpr Eigen::Index kMostPoints = 300;
  std::vector<double> data_x, data_y;
  for (Eigen::Index n = 0; n < column.size(); n += (column.size() + kMostPoints - 1) / kMostPoints) {
    data_x.push_back(task.data.raw_inputs(n));
    data_y.push_back(column(n));
  }
  // The window follows the data and the truth: a band may leave it, so that methods can be compared side by side.
  const auto [data_least, data_most] = std::ranges::minmax(data_y);
  const auto [truth_least, truth_most] = std::ranges::minmax(function);
  const double least = std::min(data_least, truth_least), most = std::max(data_most, truth_most);
  const double room = 0.35 * (most - least);
  const auto vertical = [&](double at) {
    return Series{.style = Style::dotted, .colour = Colour::grey, .x = {at, at}, .y = {least - room, most + room}};
  };
  return {.title = title,
          .x = {.label = "x", .low = x.front(), .high = x.back()},
          .y = {.label = "y", .low = least - room, .high = most + room},
          .series = {
              {.title = "mean ± 2 sd", .style = Style::band, .colour = Colour::blue, .x = x, .y = low, .y_high = high},
              {.title = "data", .style = Style::points, .colour = Colour::grey, .x = data_x, .y = data_y, .width = 1},
              {.title = "mean", .colour = Colour::blue, .x = x, .y = mean},
              {.title = "true function", .style = Style::dashed, .colour = Colour::black, .x = x, .y = function},
              vertical(task.low),
              vertical(task.high)}};
}

plot::Figure Writer::predictives(const std::string& title, const std::vector<std::string>& methods) const {
  plot::Figure figure{.title = fmt::format("{}, seed {}", title, options.seed)};
  for (const std::string& name : methods) figure.panels.push_back(predictive(name, method(name).title));
  if (methods.size() > 3) figure.columns = 2;
  return figure;
}

plot::Panel Writer::training(const std::vector<std::string>& methods) const {
  constexpr double kClip = 3;
  plot::Panel panel{.title = "training",
                    .x = {.label = "epoch", .scale = plot::Scale::log, .low = 1, .high = 1},
                    .y = {.label = fmt::format("training NLL, clipped at {:g}", kClip), .high = kClip}};
  for (const std::string& name : methods) {
    const std::size_t k = panel.series.size();
    Series series{.title = curve_title(name), .style = k == 0 ? Style::line_points : Style::line, .colour = colour(k)};
    for (const double nll : numbers_in(result(name).at("curve"))) {
      series.x.push_back(static_cast<double>(series.x.size() + 1));
      series.y.push_back(nll < kClip ? nll : kClip);
    }
    panel.x.high = std::max(panel.x.high, static_cast<double>(series.x.size()));
    panel.series.push_back(std::move(series));
  }
  return panel;
}

plot::Panel Writer::coverage(const std::string& title, const std::vector<std::string>& methods,
                             const char* where) const {
  plot::Panel panel{.title = title,
                    .x = {.label = "level", .low = 0, .high = 1},
                    .y = {.label = "share inside", .low = 0, .high = 1}};
  panel.series.push_back({.style = Style::dashed, .colour = Colour::grey, .x = {0, 1}, .y = {0, 1}});
  for (const std::string& name : methods) {
    Series series{.title = method(name).title,
                  .colour = colour(panel.series.size() - 1),
                  .y = numbers_in(result(name).at(where).at("curve"))};
    for (int i = 0; i <= kCurveLevels; ++i) series.x.push_back(static_cast<double>(i) / kCurveLevels);
    panel.series.push_back(std::move(series));
  }
  return panel;
}

std::string two_digits(double value) { return fmt::format("{:.2f}", value); }

Colour colour(std::size_t index) {
  constexpr std::array kOrder = {Colour::black,  Colour::blue, Colour::vermillion, Colour::green, Colour::orange,
                                 Colour::purple, Colour::sky,  Colour::grey,       Colour::yellow};
  return kOrder[index % kOrder.size()];
}

std::vector<std::string> own_and(const std::vector<std::string>& others) {
  std::vector<std::string> all = own_methods();
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

}  // namespace dma::reproduce
