// Draws fit.svg of tools/demo from the tables in the current folder: the same points learned by two methods, each with
// its mean, two standard deviations and the true function.
#include <fmt/format.h>

#include <algorithm>

#include "engine/support/text.h"
#include "tools/dma/io/csv.h"
#include "tools/dma/pictures/svg.h"

namespace {

using dma::plot::Colour;
using dma::plot::Style;
using Doubles = std::vector<double>;

std::vector<Doubles> columns(const std::string& file, std::size_t count) {
  dma::CsvReader reader(file);
  std::vector<std::size_t> first;
  for (std::size_t i = 0; i < count; ++i) first.push_back(i);
  const Eigen::MatrixXd values = reader.read(first);
  std::vector<Doubles> all;
  for (const auto& column : values.colwise()) all.emplace_back(column.begin(), column.end());
  return all;
}

}  // namespace

int main() try {
  const auto data = columns("data.csv", 2), grid = columns("grid.csv", 2);
  const auto [left, right] = std::ranges::minmax(data[0]);
  const double least = std::min(std::ranges::min(data[1]), std::ranges::min(grid[1])),
               most = std::max(std::ranges::max(data[1]), std::ranges::max(grid[1]));
  const double low = least - 0.35 * (most - least), high = most + 0.35 * (most - least);  // bands may leave it
  dma::plot::Figure figure{.title = "The same 200 points, two methods", .panel_height = 360};
  for (const std::string method : {"paper", "default"}) {
    const auto predicted = columns(fmt::format("predictions_{}.csv", method), 2);  // mean, sd
    Doubles below = predicted[0], above = predicted[0];
    for (std::size_t i = 0; i < below.size(); ++i) {
      below[i] -= 2 * predicted[1][i];
      above[i] += 2 * predicted[1][i];
    }
    const auto end = [&](double at) {
      return dma::plot::Series{.style = Style::dotted, .colour = Colour::grey, .x = {at, at}, .y = {low, high}};
    };
    figure.panels.push_back(
        {.title = method == "paper" ? "dma fit --preset paper" : "dma fit",
         .x = {.label = "x", .low = -4, .high = 3},
         .y = {.label = "y", .low = low, .high = high},
         .series = {
             {.title = "mean ± 2 sd", .style = Style::band, .x = grid[0], .y = below, .y_high = above},
             {.title = "data", .style = Style::points, .colour = Colour::grey, .x = data[0], .y = data[1], .width = 1},
             {.title = "mean", .x = grid[0], .y = predicted[0]},
             {.title = "true function", .style = Style::dashed, .colour = Colour::black, .x = grid[0], .y = grid[1]},
             end(left),
             end(right)}});
  }
  dma::plot::draw_picture(figure, "fit.svg");
} catch (const dma::Error& error) {
  fmt::print(stderr, "demo_picture: {}\n", error.what());
  return 2;
}
