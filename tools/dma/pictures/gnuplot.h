// Figures as values, drawn by gnuplot where it is installed. A figure is a grid of panels; a panel is a set of series,
// or a heat map with lines over it. Colours are those of Okabe and Ito, which colour-blind readers can tell apart.
//
//   draw({.panels = {{.title = "KL", .x = {"r", Scale::log}, .y = {"nats", Scale::log},
//                     .series = {{.title = "measured", .style = Style::points, .x = r, .y = kl}}}}},
//        "out/kl", {".svg", ".png"});
#pragma once

#include <filesystem>
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
  area,     // between y and the x axis
  band,     // between y and y_high, half transparent
  bars,     // a vertical line from y to y_high at every x
  steps,    // a histogram's outline, filled
  squares,  // centred squares, each with its own `side` and `opacity`
};
enum class Scale { linear, log };

// Says "let gnuplot choose".
inline constexpr double kAuto = std::numeric_limits<double>::quiet_NaN();

struct Axis {
  std::string label = {};
  Scale scale = Scale::linear;
  double low = kAuto, high = kAuto;
  double tick = kAuto;  // distance of the numbers along it
  std::vector<std::string> names = {};  // of ticks, instead of numbers
  std::vector<double> places = {};      // of these ticks; none: 1, 2, ...
};

struct Series {
  std::string title = {};  // empty: not in the key
  Style style = Style::line;
  Colour colour = Colour::blue;
  std::vector<double> x = {}, y = {};
  std::vector<double> y_high = {};              // of a band, or of bars
  double width = 2;                             // of lines; points scale with it
  std::vector<double> side = {}, opacity = {};  // of squares: in units of the x axis; 0 is invisible, 1 solid
  std::vector<std::string> notes = {};  // what a mark says when a reader of a page (tools/dma/page) points at it
};

// z[j * x.size() + i] is the value at (x[i], y[j]); x and y are evenly spaced.
struct HeatMap {
  std::vector<double> x = {}, y = {}, z = {};
  std::string label = {};  // of the colour box
  Scale scale = Scale::linear;
  bool empty() const { return z.empty(); }
};

struct Panel {
  std::string title = {};
  Axis x = {}, y = {};
  std::vector<Series> series = {};
  HeatMap heat = {};
  // Where the legend stands: below the panel, where it hides nothing, or in gnuplot's words ("top right"); "off":
  // nowhere.
  std::string key = "below";
  std::vector<std::string> notes = {};  // lines of text in the upper left corner
  bool equal_axes = false;              // one unit is as long on both axes, so that squares are square
};

struct Figure {
  std::string title = {};
  std::vector<Panel> panels = {};
  std::size_t columns = 0;                       // of the grid of panels; 0: all in one row
  double panel_width = 480, panel_height = 380;  // pixels
};

// What came of a request to draw.
struct Drawing {
  std::filesystem::path script;
  std::vector<std::filesystem::path> pictures;
  std::string skipped = {};  // empty, or why there are no pictures and what to do about it
};

// The gnuplot script, data included, that writes `name` + each ending (".svg", ".png") into the folder it is run in.
// Texts of the figure and the name stand in data blocks, which gnuplot only ever reads as strings: nothing in them is a
// command, a macro, a pipe or a format.
std::string script(const Figure& figure, const std::string& name, const std::vector<std::string>& endings);

// Writes stem.gnuplot and the pictures. A missing or failing gnuplot is said in `skipped`, not thrown.
Drawing draw(const Figure& figure, const std::filesystem::path& stem,
             const std::vector<std::string>& endings = {".svg", ".png"});

// An Error unless the name, if there is one, ends in .svg or .png.
void check_picture(const std::filesystem::path& path);

// Only the picture, whose name must end in .svg or .png: empty, or why there is none. A script to draw it later is left
// in that case, unless a file of its name is there already.
std::string draw_picture(const Figure& figure, const std::filesystem::path& picture);

}  // namespace dma::plot
