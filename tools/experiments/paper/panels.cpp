#include "tools/experiments/paper/panels.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "tools/experiments/paper/scores.h"
#include "tools/experiments/paper/summary.h"

namespace dma::reproduce {

using plot::Colour;
using plot::Series;
using plot::Style;

Colour colour(std::size_t index) {
  constexpr std::array kOrder = {Colour::black,  Colour::blue, Colour::vermillion, Colour::green, Colour::orange,
                                 Colour::purple, Colour::sky,  Colour::grey,       Colour::yellow};
  return kOrder[index % kOrder.size()];
}

plot::Panel predictive_panel(const Task& task, const Json& result, const std::string& title, std::size_t output) {
  const std::vector<double> x = task.everywhere(kPicturePoints);
  const Eigen::MatrixXd truth = task.truth(x);
  const auto outputs = static_cast<std::size_t>(truth.cols());
  const std::vector<double> means = values_of(result.at("picture").at("mean")),
                            sds = values_of(result.at("picture").at("sd"));
  std::vector<double> mean, low, high, function;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double m = means[i * outputs + output], sd = sds[i * outputs + output];
    mean.push_back(m), low.push_back(m - 2 * sd), high.push_back(m + 2 * sd);
    function.push_back(truth(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(output)));
  }
  const auto column = task.data.targets.col(static_cast<Eigen::Index>(output));
  // Some of many points are enough to show where they lie.
  constexpr Eigen::Index kMostPoints = 300;
  const Eigen::Index every = (column.size() + kMostPoints - 1) / kMostPoints;
  std::vector<double> data_x, data_y;
  for (Eigen::Index n = 0; n < column.size(); n += every)
    data_x.push_back(task.data.raw_inputs(n)), data_y.push_back(column(n));
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

plot::Figure predictive_figure(const Options& options, const Results& results, const std::string& title,
                               const std::string& task_name, const std::vector<std::string>& names) {
  const Task task = make_task(task_name, options.seed);
  plot::Figure figure{.title = fmt::format("{}, seed {}", title, options.seed), .panels = {}};
  for (const std::string& name : names)
    figure.panels.push_back(
        predictive_panel(task, result_of(results, task_name, name, options.seed), method(name).title));
  if (names.size() > 3) figure.columns = 2;
  return figure;
}

plot::Panel training_panel(const std::string& title, const std::vector<std::pair<std::string, const Json*>>& runs,
                           double clip) {
  plot::Panel panel{.title = title,
                    .x = {.label = "epoch", .scale = plot::Scale::log, .low = 1, .high = 1},
                    .y = {.label = fmt::format("training NLL, clipped at {:g}", clip), .high = clip}};
  for (std::size_t k = 0; k < runs.size(); ++k) {
    Series series{.title = runs[k].first, .style = k == 0 ? Style::line_points : Style::line, .colour = colour(k)};
    for (const double nll : values_of(runs[k].second->at("curve"))) {
      series.x.push_back(static_cast<double>(series.x.size() + 1));
      series.y.push_back(nll < clip ? nll : clip);
    }
    panel.x.high = std::max(panel.x.high, static_cast<double>(series.x.size()));
    panel.series.push_back(std::move(series));
  }
  return panel;
}

plot::Panel coverage_panel(const std::string& title, const std::vector<std::pair<std::string, const Json*>>& runs,
                           const std::string& where) {
  plot::Panel panel{.title = title,
                    .x = {.label = "level", .low = 0, .high = 1},
                    .y = {.label = "share inside", .low = 0, .high = 1}};
  panel.series.push_back({.style = Style::dashed, .colour = Colour::grey, .x = {0, 1}, .y = {0, 1}});
  for (std::size_t k = 0; k < runs.size(); ++k) {
    Series series{.title = runs[k].first, .colour = colour(k), .y = values_of(runs[k].second->at(where).at("curve"))};
    for (int i = 0; i <= kCurveLevels; ++i) series.x.push_back(static_cast<double>(i) / kCurveLevels);
    panel.series.push_back(std::move(series));
  }
  return panel;
}

}  // namespace dma::reproduce
