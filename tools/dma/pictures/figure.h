// Figures as values: a figure is a grid of panels, a panel is a set of series.
// Colours are those of Okabe and Ito, which colour-blind readers can tell apart. svg.h draws them.
//
//   draw_picture({.panels = {{.title = "KL", .x = {"r", Scale::log}, .y = {"nats", Scale::log},
//                             .series = {{.title = "measured", .style = Style::points, .x = r, .y = kl}}}}}, "kl.svg");
#pragma once

#include <limits>
#include <string>
#include <vector>

namespace dma::plot {

enum class Colour { black, orange, sky, green, yellow, blue, vermillion, purple, grey, white };
enum class Style {
  line,
  dashed,
  dotted,
  points,
  line_points,
  area,     // between y and 0
  band,     // between y and y_high
  bars,     // a vertical line from y to y_high at every x
  squares,  // centred squares, each with its own `side` and `opacity`
};
enum class Scale { linear, log };

// The values decide.
inline constexpr double kAuto = std::numeric_limits<double>::quiet_NaN();

struct Axis {
  std::string label = {};
  Scale scale = Scale::linear;
  double low = kAuto, high = kAuto;     // low > high turns the axis round
  double tick = kAuto;                  // distance between the numbers along it
  std::vector<std::string> names = {};  // names of ticks, instead of numbers
  std::vector<double> places = {};      // places of these ticks; none: 1, 2, ...
};

struct Series {
  std::string title = {};  // empty: not in the key
  Style style = Style::line;
  Colour colour = Colour::blue;
  std::vector<double> x = {}, y = {};
  std::vector<double> y_high = {};              // upper ends of a band, or of bars
  double width = 2;                             // width of lines; points scale with it
  std::vector<double> side = {}, opacity = {};  // squares: side in units of the x axis; opacity 0 is invisible, 1 solid
  std::vector<std::string> notes = {};          // text shown when a reader points at a mark
};

struct Panel {
  std::string title = {};
  Axis x = {}, y = {};
  std::vector<Series> series = {};
  bool has_key = true;
  bool equal_axes = false;  // one unit is as long on both axes, so that squares are square
};

struct Figure {
  std::string title = {};
  std::vector<Panel> panels = {};
  std::size_t columns = 0;                       // columns of the grid of panels; 0: all in one row
  double panel_width = 480, panel_height = 380;  // pixels, without the key
};

}  // namespace dma::plot
