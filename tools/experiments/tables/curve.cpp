#include "tools/experiments/tables/curve.h"

#include <fmt/format.h>

#include <algorithm>

namespace dma::uci {

namespace {

double largest_fall(const std::vector<double>& curve) {
  double highest = curve.front(), fall = 0;
  for (const double value : curve) {
    highest = std::max(highest, value);
    fall = std::max(fall, highest - value);
  }
  return fall;
}

}  // namespace

std::vector<double> curve_of(const SetResult& result) {
  std::vector<double> curve;
  for (std::size_t i = 0; i < result.splits[0].curve.size(); ++i)
    curve.push_back(
        summarise(result.splits, [&](const SplitResult& s) { return s.curve[i].second.log_likelihood; }).mean);
  return curve;
}

std::string curve_markdown(const std::vector<SetResult>& results) {
  std::string head = "| log-likelihood after epoch |", line = "|---|";
  for (const auto& [epochs, scores] : results.at(0).splits.at(0).curve) {
    head += fmt::format(" {} |", epochs);
    line += "---|";
  }
  std::string text = head + " largest fall |\n" + line + "---|\n";
  for (const SetResult& result : results) {
    text += fmt::format("| {} |", result.name);
    const std::vector<double> curve = curve_of(result);
    for (const double value : curve) text += fmt::format(" {:.3f} |", value);
    text += fmt::format(" {:.3f} |\n", largest_fall(curve));
  }
  return text;
}

plot::Figure curve_figure(const std::vector<SetResult>& results) {
  plot::Panel panel{
      .title = "log-likelihood over epochs", .x = {"epochs"}, .y = {"change since the first point, nats"}};
  const plot::Colour colours[] = {plot::Colour::blue,       plot::Colour::orange, plot::Colour::green,
                                  plot::Colour::vermillion, plot::Colour::purple, plot::Colour::black};
  std::size_t k = 0;
  for (const SetResult& result : results) {
    plot::Series series{
        .title = result.name, .style = plot::Style::line_points, .colour = colours[k++ % std::size(colours)]};
    const std::vector<double> curve = curve_of(result);
    for (std::size_t i = 0; i < curve.size(); ++i) {
      series.x.push_back(result.splits[0].curve[i].first);
      series.y.push_back(curve[i] - curve[0]);
    }
    panel.series.push_back(std::move(series));
  }
  panel.key = "outside right";
  return {.title = "", .panels = {panel}, .panel_width = 640};
}

}  // namespace dma::uci
