#include "tools/dma/pictures/hinton_figure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tools/dma/fit/summary.h"

namespace dma {

namespace {

using plot::Colour;
using plot::Style;

// Wider than this, a layer gets a row of the figure for itself.
constexpr std::size_t kWide = 16;

// Numbers 1..count along an axis, about ten of them written.
plot::Axis counting_axis(std::string label, std::size_t count, bool downwards) {
  const double first = 0.3, last = static_cast<double>(count) + 0.7;
  return {.label = std::move(label),
          .low = downwards ? last : first,
          .high = downwards ? first : last,
          .tick = static_cast<double>((count + 9) / 10)};
}

plot::Panel layer_panel(const NetworkLayer& of, std::size_t layer) {
  const auto& [member, units, inputs, bias, weights, prior_variance] = of;
  const std::size_t columns = inputs + (bias ? 1 : 0);
  const bool lying = units > columns;  // the longer side is always horizontal
  double largest_mean = 0, largest_variance = 0;
  for (const Gaussian& w : weights) {
    largest_mean = std::max(largest_mean, std::abs(w.mean()));
    largest_variance = std::max(largest_variance, w.variance());
  }
  plot::Series positive{.style = Style::squares, .colour = Colour::blue};
  plot::Series negative{.style = Style::squares, .colour = Colour::vermillion};
  for (std::size_t i = 0; i < weights.size(); ++i) {
    // Biases stand as one more input.
    const std::size_t unit = i < units * inputs ? i / inputs : i - units * inputs;
    const std::size_t input = i < units * inputs ? i % inputs : inputs;
    plot::Series& series = weights[i].mean() < 0 ? negative : positive;
    series.x.push_back(static_cast<double>((lying ? unit : input) + 1));
    series.y.push_back(static_cast<double>((lying ? input : unit) + 1));
    constexpr double kLargestSide = 0.95, kFaintest = 0.15;
    series.side.push_back(kLargestSide * std::sqrt(std::abs(weights[i].mean()) / largest_mean));
    series.opacity.push_back(1 - (1 - kFaintest) * weights[i].variance() / largest_variance);
  }
  // Squares of many opacities have no one colour for the key: two points outside the picture have.
  const auto key = [](const char* title, Colour colour) {
    return plot::Series{.title = title, .style = Style::points, .colour = colour, .x = {-10}, .y = {-10}, .width = 4};
  };
  const plot::Axis unit_axis = counting_axis("unit", units, !lying);
  const plot::Axis input_axis = counting_axis(bias ? "input (last: bias)" : "input", columns, lying);
  return {.title = fmt::format("layer {}: {} → {}, largest |mean| {:.3g}", layer + 1, inputs, units, largest_mean),
          .x = lying ? unit_axis : input_axis,
          .y = lying ? input_axis : unit_axis,
          .series = {std::move(positive), std::move(negative), key("positive", Colour::blue),
                     key("negative", Colour::vermillion)},
          .has_key = layer == 0,
          .equal_axes = true};
}

plot::Figure figure_of(const std::vector<NetworkLayer>& layers, std::string title) {
  const bool wide =
      std::ranges::any_of(layers, [](const NetworkLayer& l) { return std::max(l.units, l.inputs) > kWide; });
  plot::Figure figure{.title = std::move(title),
                      .columns = wide ? 1 : std::min<std::size_t>(3, layers.size()),
                      .panel_width = wide                 ? 960.0
                                     : layers.size() == 1 ? 760.0
                                                          : 480.0,  // the title is to have room
                      .panel_height = wide ? 320.0 : 380.0};
  for (std::size_t layer = 0; layer < layers.size(); ++layer)
    figure.panels.push_back(layer_panel(layers[layer], layer));
  return figure;
}

}  // namespace

plot::Figure hinton_figure(const TableMethod& method) {
  std::vector<NetworkLayer> layers = layers_of(method);
  const std::size_t members = layers.empty() ? 0 : layers.back().member + 1;
  std::erase_if(layers, [](const NetworkLayer& layer) { return layer.member > 0; });
  return figure_of(layers, fmt::format("Weights{}: area is |posterior mean|, opacity is certainty",
                                       members > 1 ? fmt::format(" of network 1 of {}", members) : ""));
}

}  // namespace dma
