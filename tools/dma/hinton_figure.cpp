#include "tools/dma/hinton_figure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace dma {

namespace {

using plot::Colour;
using plot::Style;

plot::Panel layer_panel(const Bnn& net, std::size_t layer) {
  const auto& o = net.options();
  const std::size_t rows = o.layers[layer + 1], inputs = o.layers[layer], columns = inputs + (o.bias ? 1 : 0);
  const auto weights = net.weights(layer);
  double largest_mean = 0, largest_variance = 0;
  for (const Gaussian& w : weights) {
    largest_mean = std::max(largest_mean, std::abs(w.mean()));
    largest_variance = std::max(largest_variance, w.variance());
  }
  plot::Series positive{.style = Style::squares, .colour = Colour::blue},
      negative{.style = Style::squares, .colour = Colour::vermillion};
  for (std::size_t i = 0; i < weights.size(); ++i) {
    // The matrix row by row, then the biases, which stand in a column of their own.
    const std::size_t row = i < rows * inputs ? i / inputs : i - rows * inputs;
    const std::size_t column = i < rows * inputs ? i % inputs : inputs;
    plot::Series& series = weights[i].mean() < 0 ? negative : positive;
    series.x.push_back(static_cast<double>(column + 1));
    series.y.push_back(static_cast<double>(row + 1));
    constexpr double kLargestSide = 0.95, kFaintest = 0.15;
    series.side.push_back(kLargestSide * std::sqrt(std::abs(weights[i].mean()) / largest_mean));
    series.opacity.push_back(1 - (1 - kFaintest) * weights[i].variance() / largest_variance);
  }
  // Squares of many opacities have no one colour for the key: two points outside the picture have.
  const auto key = [](const char* title, Colour colour) {
    return plot::Series{.title = title, .style = Style::points, .colour = colour, .x = {-10}, .y = {-10}, .width = 4};
  };
  return {.title = fmt::format("layer {}: {} × {}, largest |mean| {:.3g}", layer + 1, rows, columns, largest_mean),
          .x = {o.bias ? "input (last: bias)" : "input", plot::Scale::linear, 0.3, static_cast<double>(columns) + 0.7},
          .y = {"unit", plot::Scale::linear, static_cast<double>(rows) + 0.7, 0.3},
          .series = {std::move(positive), std::move(negative), key("positive", Colour::blue),
                     key("negative", Colour::vermillion)},
          .key = "tmargin center horizontal",
          .equal_axes = true};
}

}  // namespace

plot::Figure hinton_figure(const Bnn& net) {
  plot::Figure figure{.title = "Weights: area is |posterior mean|, opacity is certainty", .columns = 3};
  for (std::size_t layer = 0; layer + 1 < net.options().layers.size(); ++layer)
    figure.panels.push_back(layer_panel(net, layer));
  return figure;
}

}  // namespace dma
