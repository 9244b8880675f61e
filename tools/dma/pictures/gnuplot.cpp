#include "tools/dma/pictures/gnuplot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdint>
#include <cstdlib>

#include "engine/support/error.h"
#include "engine/support/text.h"
#include "engine/support/whole_number.h"
#include "tools/dma/io/write_file.h"
#include "tools/dma/pictures/run_program.h"

namespace dma::plot {

namespace {

constexpr std::array<std::string_view, 10> kRgb = {"#000000", "#E69F00", "#56B4E9", "#009E73", "#F0E442",
                                                   "#0072B2", "#D55E00", "#CC79A7", "#888888", "#FFFFFF"};
constexpr int kFontSize = 13;

std::string_view rgb(Colour colour) { return kRgb[static_cast<std::size_t>(colour)]; }

// gnuplot's 0xAARRGGBB, in which AA is the transparency; never negative, which gnuplot draws black on some processors.
std::int64_t argb(Colour colour, double opacity) {
  const int transparency = whole_number(255 * (1 - opacity) + 0.5, 0, 255);
  return (std::int64_t{transparency} << 24) + std::strtol(rgb(colour).data() + 1, nullptr, 16);
}

// The texts of a figure, in a data block of their own. gnuplot takes the lines of a data block as they are; each begins
// with a bar, so that none can be the line that ends it.
class Texts {
 public:
  // An expression whose value is the text.
  std::string add(std::string_view text) {
    lines_ += "|" + printable(text) + "\n";
    return fmt::format("$text[{}][2:*]", ++count_);
  }
  // The same for names of ticks, which gnuplot takes for formats.
  std::string add_format(std::string_view text) {
    std::string doubled;
    for (const char c : text) doubled += c == '%' ? "%%" : std::string(1, c);
    return add(doubled);
  }
  std::string block() const { return count_ == 0 ? "" : "$text << END\n" + lines_ + "END\n"; }

 private:
  std::string lines_;
  std::size_t count_ = 0;
};

std::string bound(double value) { return std::isnan(value) ? "*" : fmt::format("{}", value); }

std::string number(double value) { return std::isfinite(value) ? fmt::format("{:.10g}", value) : "NaN"; }

void write_series(const Series& series, std::size_t panel, std::size_t index, std::string& out) {
  if (series.x.size() != series.y.size() || (!series.y_high.empty() && series.y_high.size() != series.y.size()))
    fail("series '{}' has {} x and {} y values", series.title, series.x.size(), series.y.size());
  if (series.style == Style::squares &&
      (series.side.size() != series.x.size() || series.opacity.size() != series.x.size()))
    fail("series '{}' has {} squares, {} sides and {} opacities", series.title, series.x.size(), series.side.size(),
         series.opacity.size());
  out += fmt::format("$series_{}_{} << END\n", panel, index);
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    out += number(series.x[i]) + " " + number(series.y[i]);
    if (!series.y_high.empty()) out += " " + number(series.y_high[i]);
    if (series.style == Style::squares)
      out += fmt::format(" {} {}", number(0.5 * series.side[i]), argb(series.colour, series.opacity[i]));
    out += "\n";
  }
  out += "END\n";
}

// gnuplot's `nonuniform matrix`: the first row holds the x values, the first column the y values.
void write_heat(const HeatMap& heat, std::size_t panel, std::string& out) {
  if (heat.z.size() != heat.x.size() * heat.y.size())
    fail("a heat map of {} x {} points has {} values", heat.x.size(), heat.y.size(), heat.z.size());
  out += fmt::format("$heat_{} << END\n{}", panel, heat.x.size());
  for (const double x : heat.x) out += " " + number(x);
  for (std::size_t j = 0; j < heat.y.size(); ++j) {
    out += "\n" + number(heat.y[j]);
    for (std::size_t i = 0; i < heat.x.size(); ++i) out += " " + number(heat.z[j * heat.x.size() + i]);
  }
  out += "\nEND\n";
}

std::string clause(const Series& series, std::size_t panel, std::size_t index, Texts& texts) {
  const std::string data = fmt::format("$series_{}_{}", panel, index);
  const std::string title = series.title.empty() ? "notitle" : "title " + texts.add(series.title) + " noenhanced";
  const std::string_view colour = rgb(series.colour);
  const std::string line = fmt::format("lc rgb '{}' lw {}", colour, series.width);
  switch (series.style) {
    case Style::line:
      return fmt::format("{} using 1:2 with lines {} {}", data, line, title);
    case Style::dashed:
      return fmt::format("{} using 1:2 with lines dt (8,5) {} {}", data, line, title);
    case Style::dotted:
      return fmt::format("{} using 1:2 with lines dt (2,4) {} {}", data, line, title);
    case Style::points:
      return fmt::format("{} using 1:2 with points pt 7 ps {} {} {}", data, 0.3 * series.width, line, title);
    case Style::line_points:
      return fmt::format("{} using 1:2 with linespoints pt 7 ps {} {} {}", data, 0.3 * series.width, line, title);
    case Style::area:
      return fmt::format("{} using 1:2 with filledcurves y1=0 fs transparent solid 0.35 lc rgb '{}' {}", data, colour,
                         title);
    case Style::band:
      return fmt::format("{} using 1:2:3 with filledcurves fs transparent solid 0.25 lc rgb '{}' {}", data, colour,
                         title);
    case Style::bars:
      return fmt::format("{} using 1:2:(0):($3-$2) with vectors nohead {} {}", data, line, title);
    case Style::steps:
      return fmt::format("{} using 1:2 with fillsteps fs transparent solid 0.35 noborder lc rgb '{}' {}", data, colour,
                         title);
    case Style::squares:
      return fmt::format("{} using 1:2:3:3:4 with boxxyerror fs solid noborder lc rgb variable {}", data, title);
  }
  return {};
}

void write_axis(char axis, const Axis& a, Texts& texts, std::string& out) {
  out += fmt::format("set {}label {} noenhanced\n", axis, texts.add(a.label));
  out += fmt::format("{} logscale {}\n", a.scale == Scale::log ? "set" : "unset", axis);
  out += fmt::format("set format {} {}\n", axis, a.scale == Scale::log ? "'10^{%T}'" : "'%g'");
  std::string ticks = std::isnan(a.tick) ? "autofreq" : number(a.tick);
  if (!a.names.empty()) {
    ticks = "(";
    for (std::size_t i = 0; i < a.names.size(); ++i)
      ticks += fmt::format("{}{} {}", i == 0 ? "" : ", ", texts.add_format(a.names[i]),
                           number(a.places.empty() ? static_cast<double>(i + 1) : a.places[i]));
    ticks += ") noenhanced";
  }
  out += fmt::format("set {}tics {}\n", axis, a.names.empty() ? ticks + " enhanced" : ticks);
  out += fmt::format("set {}range [{}:{}]\n", axis, bound(a.low), bound(a.high));
}

void write_panel(const Panel& panel, std::size_t index, Texts& texts, std::string& out) {
  out += fmt::format("\nset title {} noenhanced\n", texts.add(panel.title));
  write_axis('x', panel.x, texts, out);
  write_axis('y', panel.y, texts, out);
  out += panel.equal_axes ? "set size ratio -1\n" : "set size noratio\n";
  if (panel.key == "off") {
    out += "unset key\n";
  } else if (panel.key == "below") {
    out += "set key below center horizontal Left reverse noopaque samplen 2 spacing 1.15\n";
  } else {
    out += fmt::format("set key {} vertical Right noreverse opaque samplen 2 spacing 1.15\n", panel.key);
  }
  out += "unset label\n";
  for (std::size_t i = 0; i < panel.notes.size(); ++i)
    out += fmt::format("set label {} {} at graph 0.03,{} front noenhanced\n", i + 1, texts.add(panel.notes[i]),
                       0.95 - 0.065 * static_cast<double>(i));
  std::vector<std::string> clauses;
  out += panel.heat.empty() ? "set grid lc rgb '#dddddd'\n" : "unset grid\n";
  if (!panel.heat.empty()) {
    out += fmt::format("set cblabel {} noenhanced\n{} logscale cb\n", texts.add(panel.heat.label),
                       panel.heat.scale == Scale::log ? "set" : "unset");
    out += fmt::format("set format cb {}\n", panel.heat.scale == Scale::log ? "'10^{%T}'" : "'%g'");
    clauses.push_back(fmt::format("$heat_{} nonuniform matrix using 1:2:3 with image notitle", index));
  }
  for (std::size_t i = 0; i < panel.series.size(); ++i) clauses.push_back(clause(panel.series[i], index, i, texts));
  if (clauses.empty()) clauses.push_back("NaN notitle");
  out += fmt::format("plot {}\n", joined(clauses, ", \\\n     "));
}

std::string terminal(std::string_view ending, double width, double height) {
  if (ending == ".svg")
    return fmt::format("set terminal svg size {},{} enhanced font 'Helvetica,{}' background '#ffffff'", width, height,
                       kFontSize + 1);
  if (ending == ".png")
    return fmt::format("set terminal pngcairo size {},{} enhanced font 'Helvetica,{}' background '#ffffff'", width,
                       height, kFontSize);
  fail("no picture format '{}'; known: .png, .svg", ending);
}

// The pictures' bytes in the order of the endings; or why there are none.
std::string run_gnuplot(const Figure& figure, const std::vector<std::string>& endings,
                        std::vector<std::string>& pictures) {
  const ScratchFolder folder;
  write_file(folder.path() / "figure.gnuplot", script(figure, "figure", endings));
  constexpr double kLongest = 120;  // seconds
  switch (run_in(folder.path(), {"gnuplot", "-d", "figure.gnuplot"}, kLongest)) {
    case 0:
      break;
    case kNoSuchProgram:
      return "gnuplot is not installed (Debian: gnuplot-nox): no picture";
    case kTooLong:
      return fmt::format("gnuplot took more than {} seconds: no picture", kLongest);
    default:
      return "gnuplot failed: no picture";
  }
  for (const std::string& ending : endings) {
    pictures.push_back(folder.read("figure" + ending));
    if (pictures.back().empty()) return fmt::format("gnuplot made no {}", ending);
  }
  return {};
}

}  // namespace

std::string script(const Figure& figure, const std::string& name, const std::vector<std::string>& endings) {
  const std::size_t panels = std::max<std::size_t>(1, figure.panels.size());
  const std::size_t columns = figure.columns == 0 ? panels : std::min(figure.columns, panels);
  const std::size_t rows = (panels + columns - 1) / columns;
  Texts texts;
  std::string body, title;
  for (std::size_t i = 0; i < figure.panels.size(); ++i) write_panel(figure.panels[i], i, texts, body);
  if (!figure.title.empty())
    title = fmt::format(" title {} noenhanced font ',{}'", texts.add(figure.title), kFontSize + 2);
  std::string out;
  for (std::size_t i = 0; i < figure.panels.size(); ++i) {
    if (!figure.panels[i].heat.empty()) write_heat(figure.panels[i].heat, i, out);
    for (std::size_t j = 0; j < figure.panels[i].series.size(); ++j)
      write_series(figure.panels[i].series[j], i, j, out);
  }
  out +=
      "set border 3 lc rgb '#444444'\nset tics nomirror\nset style fill noborder\n"
      "set palette defined (0 '#00204d', 0.25 '#31446b', 0.5 '#7c7b78', 0.75 '#b9ac70', 1 '#ffea46')\n";  // cividis
  const double title_height = figure.title.empty() ? 0 : 30;
  for (const std::string& ending : endings) {
    out += terminal(ending, figure.panel_width * static_cast<double>(columns),
                    figure.panel_height * static_cast<double>(rows) + title_height) +
           "\n";
    // With ./ in front a name is neither a pipe nor somebody's home.
    out += fmt::format("set output {}\n", texts.add("./" + name + ending));
    out += fmt::format("set multiplot layout {},{}{}\n", rows, columns, title);
    out += body + "unset multiplot\nunset output\n";
  }
  return texts.block() + out;
}

Drawing draw(const Figure& figure, const std::filesystem::path& stem, const std::vector<std::string>& endings) {
  Drawing drawing;
  drawing.script = stem;
  drawing.script += ".gnuplot";
  write_file(drawing.script, script(figure, stem.filename().string(), endings));
  std::vector<std::string> pictures;
  drawing.skipped = run_gnuplot(figure, endings, pictures);
  if (!drawing.skipped.empty()) {
    drawing.skipped += fmt::format("; later, in its folder: gnuplot {}", drawing.script.filename().string());
    return drawing;
  }
  for (std::size_t i = 0; i < endings.size(); ++i) {
    drawing.pictures.push_back(stem);
    drawing.pictures.back() += endings[i];
    write_file(drawing.pictures.back(), pictures[i]);
  }
  return drawing;
}

void check_picture(const std::filesystem::path& path) {
  const std::string ending = path.extension().string();
  if (!path.empty() && ending != ".svg" && ending != ".png")
    fail("'{}' does not name a picture; a name that ends in .svg or .png is expected", path.string());
}

std::string draw_picture(const Figure& figure, const std::filesystem::path& picture) {
  const std::string ending = picture.extension().string();
  std::vector<std::string> pictures;
  std::string skipped = run_gnuplot(figure, {ending}, pictures);
  if (skipped.empty()) {
    write_file(picture, pictures[0]);
    return {};
  }
  const auto later = std::filesystem::path(picture).replace_extension(".gnuplot");
  std::error_code error;
  if (std::filesystem::exists(std::filesystem::symlink_status(later, error))) return skipped;
  write_file(later, script(figure, picture.stem().string(), {ending}));
  return skipped + fmt::format("; later: gnuplot {}", later.string());
}

}  // namespace dma::plot
