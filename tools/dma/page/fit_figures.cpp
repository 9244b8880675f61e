#include "tools/dma/page/fit_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tools/dma/page/parts.h"
#include "tools/dma/page/pictures.h"

namespace dma {

namespace {

using plot::Colour;
using plot::Style;
using Doubles = std::vector<double>;

constexpr std::array kColours = {Colour::blue,   Colour::vermillion, Colour::green,
                                 Colour::orange, Colour::purple,     Colour::sky};
constexpr Eigen::Index kMostPointsDrawn = 2000;  // more would only blacken the picture

Doubles numbers(const Eigen::VectorXd& v) { return {v.begin(), v.end()}; }

// Every so many rows, so that at most kMostPointsDrawn are left.
std::vector<Eigen::Index> shown_rows(Eigen::Index rows) {
  std::vector<Eigen::Index> shown;
  const Eigen::Index count = std::min(rows, kMostPointsDrawn);
  for (Eigen::Index i = 0; i < count; ++i) shown.push_back(i * rows / count);
  return shown;
}

// Well beyond the data on both sides, where the uncertainty should grow.
Eigen::MatrixXd grid_around(double low, double high) {
  constexpr double kBeyond = 0.6;
  constexpr Eigen::Index kPoints = 401;
  const double margin = kBeyond * (high - low);
  return Eigen::VectorXd::LinSpaced(kPoints, low - margin, high + margin);
}

// Quantiles of the predictive distribution: with Student's t tails, two standard deviations would be far too wide.
struct Interval {
  Eigen::VectorXd low, high;
};
constexpr const char* kIntervalTitle = "95 % interval";
Interval interval(const Prediction& p, Eigen::Index target) {
  return {p.quantile(0.025).col(target), p.quantile(0.975).col(target)};
}

plot::Panel curve_panel(const Prediction& p, const Eigen::MatrixXd& grid, const TrainingData& data,
                        Eigen::Index target) {
  const auto rows = shown_rows(data.inputs.rows());
  const Eigen::VectorXd x = data.inputs(rows, 0), y = data.outputs(rows, target);
  const Eigen::VectorXd mean = p.mean.col(target);
  const Interval band = interval(p, target);
  const double low = data.inputs.minCoeff(), high = data.inputs.maxCoeff();
  const double bottom = std::min(y.minCoeff(), band.low.minCoeff());
  const double top = std::max(y.maxCoeff(), band.high.maxCoeff());
  const std::string& name = data.targets[static_cast<std::size_t>(target)];
  const auto vertical = [&](double at, std::string title) {
    return plot::Series{.title = std::move(title),
                        .style = Style::dashed,
                        .colour = Colour::grey,
                        .x = {at, at},
                        .y = {bottom, top},
                        .width = 1.5};
  };
  return {
      .title = fmt::format("{} given {}", name, data.features[0]),
      .x = {data.features[0], plot::Scale::linear, grid(0, 0), grid(grid.rows() - 1, 0)},
      .y = {name, plot::Scale::linear, bottom - 0.05 * (top - bottom), top + 0.05 * (top - bottom)},
      .series = {{.title = kIntervalTitle,
                  .style = Style::band,
                  .colour = Colour::sky,
                  .x = numbers(grid.col(0)),
                  .y = numbers(band.low),
                  .y_high = numbers(band.high)},
                 {.title = "data",
                  .style = Style::points,
                  .colour = Colour::vermillion,
                  .x = numbers(x),
                  .y = numbers(y),
                  .width = 1.2},
                 {.title = "predictive mean", .style = Style::line, .x = numbers(grid.col(0)), .y = numbers(mean)},
                 vertical(low, "training range"),
                 vertical(high, "")},
  };
}

// A file needs no notes under the pointer.
plot::Panel without_notes(plot::Panel panel, std::string title) {
  panel.title = std::move(title);
  for (plot::Series& series : panel.series) series.notes.clear();
  return panel;
}

}  // namespace

plot::Figure fit_figure(const std::function<Prediction(const Eigen::MatrixXd&)>& predict, const TrainingData& data) {
  plot::Figure figure{
      .columns = std::min<std::size_t>(3, data.targets.size()), .panel_width = 720, .panel_height = 480};
  if (data.features.size() == 1) {
    const Eigen::MatrixXd grid = grid_around(data.inputs.minCoeff(), data.inputs.maxCoeff());
    const Prediction p = predict(grid);
    for (Eigen::Index j = 0; j < data.outputs.cols(); ++j) figure.panels.push_back(curve_panel(p, grid, data, j));
    return figure;
  }
  const bool held_out = data.held_out_rows() > 0;
  const Eigen::MatrixXd& inputs = held_out ? data.held_out_inputs : data.inputs;
  const Eigen::MatrixXd& outputs = held_out ? data.held_out_outputs : data.outputs;
  const auto rows = shown_rows(inputs.rows());
  const Prediction p = predict(inputs(rows, Eigen::all));
  const std::string which = fmt::format("{} {} rows", rows.size(), held_out ? "held-out" : "training");
  for (Eigen::Index j = 0; j < outputs.cols(); ++j) {
    const std::string& name = data.targets[static_cast<std::size_t>(j)];
    const Interval bars = interval(p, j);
    const Json points = {{"observed", report::short_numbers(outputs(rows, j))},
                         {"predicted", report::short_numbers(p.mean.col(j))},
                         {"low", report::short_numbers(bars.low)},
                         {"high", report::short_numbers(bars.high)}};
    figure.panels.push_back(without_notes(report::agreement_panel(points, name), fmt::format("{}, {}", name, which)));
    figure.panels.back().series[1].title = "predicted = observed";
  }
  return figure;
}

plot::Figure classes_figure(const TableModel& model, const TrainingData& data, const JudgedClasses& judged) {
  plot::Panel sorted{.title = fmt::format("{}, {}", data.targets[0], judged.which),
                     .x = {"% of the rows of a class"},
                     .y = {"% given to the true class", plot::Scale::linear, 0, 100}};
  plot::Figure figure{.panel_width = 640, .panel_height = 440};
  for (std::size_t k = 0; k < judged.names.size(); ++k) {
    std::vector<double> of_class;
    for (std::size_t n = 0; n < judged.classes.size(); ++n)
      if (judged.classes[n] == static_cast<Eigen::Index>(k))
        of_class.push_back(100 * judged.probabilities(static_cast<Eigen::Index>(n), static_cast<Eigen::Index>(k)));
    std::ranges::sort(of_class);
    std::vector<double> fraction;
    for (std::size_t i = 0; i < of_class.size(); ++i)
      fraction.push_back(100 * (static_cast<double>(i) + 0.5) / static_cast<double>(of_class.size()));
    sorted.series.push_back({.title = judged.names[k],
                             .style = of_class.size() > 60 ? Style::line : Style::line_points,
                             .colour = kColours[k % kColours.size()],
                             .x = std::move(fraction),
                             .y = std::move(of_class)});
  }
  figure.panels.push_back(std::move(sorted));
  if (data.features.size() != 1) return figure;
  const Eigen::MatrixXd grid = grid_around(data.inputs.minCoeff(), data.inputs.maxCoeff());
  const Eigen::MatrixXd probabilities = 100 * model.probabilities(grid);
  plot::Panel curves{.title = fmt::format("{} given {}", data.targets[0], data.features[0]),
                     .x = {data.features[0]},
                     .y = {"%", plot::Scale::linear, 0, 100}};
  for (std::size_t k = 0; k < judged.names.size(); ++k)
    curves.series.push_back({.title = judged.names[k],
                             .colour = kColours[k % kColours.size()],
                             .x = numbers(grid.col(0)),
                             .y = numbers(probabilities.col(static_cast<Eigen::Index>(k)))});
  figure.panels.push_back(std::move(curves));
  return figure;
}

plot::Figure training_figure(const std::vector<std::vector<double>>& curves) {
  std::vector<std::string> names;
  for (std::size_t k = 0; k < curves.size(); ++k) names.push_back(fmt::format("member {}", k + 1));
  plot::Panel panel = without_notes(
      report::training_panel(report::training_json(curves), "train log-likelihood per row", names), "Training");
  panel.has_key = curves.size() > 1;
  return {.panels = {std::move(panel)}, .panel_width = 640, .panel_height = 420};
}

}  // namespace dma
