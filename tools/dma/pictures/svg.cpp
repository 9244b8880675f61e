#include "tools/dma/pictures/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/support/text.h"
#include "tools/dma/io/write_file.h"
#include "tools/dma/pictures/marks.h"

namespace dma::plot {

namespace {

constexpr double kTop = 26, kRight = 14, kBottom = 44, kDigit = 6.8, kKeyRow = 20;

struct Tick {
  double at = 0;
  std::string text = {};
};

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

// The text of a power of ten: 10⁻³ where numbers would be long.
std::string power_text(int exponent, bool is_plain) {
  if (is_plain) return fmt::format("{:.10g}", std::pow(10, exponent));
  constexpr std::array<std::string_view, 10> kRaised = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text = exponent < 0 ? "10⁻" : "10";
  for (const char digit : fmt::format("{}", std::abs(exponent))) text += kRaised[static_cast<std::size_t>(digit - '0')];
  return text;
}

std::vector<Tick> log_ticks(const Extent& extent, int count) {
  const int first = static_cast<int>(std::ceil(extent.least() - 1e-9)),
            last = static_cast<int>(std::floor(extent.most() + 1e-9));
  std::vector<Tick> all;
  if (last - first < 1) {  // less than two powers of ten
    for (int exponent = first - 1; exponent <= last; ++exponent)
      for (const double factor : {1.0, 2.0, 5.0}) {
        const double value = factor * std::pow(10, exponent), at = std::log10(value);
        if (at >= extent.least() - 1e-9 && at <= extent.most() + 1e-9)
          all.push_back({value, fmt::format("{:.4g}", value)});
      }
    return all;
  }
  const int step = (last - first) / std::max(1, count) + 1;
  for (int exponent = first; exponent <= last; exponent += step)
    all.push_back({std::pow(10, exponent), power_text(exponent, first >= -3 && last <= 4)});
  return all;
}

std::vector<Tick> ticks_of(const Axis& axis, const Extent& extent, int count) {
  std::vector<Tick> all;
  constexpr std::size_t kMostOfName = 18;
  for (std::size_t i = 0; i < axis.names.size(); ++i)
    all.push_back(
        {axis.places.empty() ? static_cast<double>(i + 1) : axis.places[i], shortened(axis.names[i], kMostOfName)});
  if (!axis.names.empty()) return all;
  if (extent.is_log) return log_ticks(extent, count);
  std::vector<double> values = ticks(extent.least(), extent.most(), count);
  if (axis.tick > 0) {
    values.clear();
    for (double k = std::ceil(extent.least() / axis.tick); k * axis.tick <= extent.most(); ++k)
      values.push_back(k * axis.tick);
  }
  for (const double value : values) all.push_back({value, fmt::format("{:.10g}", value)});
  return all;
}

std::size_t longest(const std::vector<Tick>& ticks) {
  std::size_t most = 1;
  for (const Tick& tick : ticks) most = std::max(most, characters(tick.text));
  return most;
}

std::string text_at(double x, double y, std::string_view anchor, std::string_view text, std::string_view css = "") {
  return fmt::format("<text{} x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>", css, x, y, anchor,
                     escaped(printable(text)));
}

constexpr std::string_view kName = " class=\"name\"";

std::string axes(const Field& at, const Panel& panel, const std::vector<Tick>& x_ticks,
                 const std::vector<Tick>& y_ticks, double height) {
  const double bottom = at.top + at.along, right = at.left + at.across;
  constexpr double kClose = 0.01;  // pixels: a tick at the very end is inside
  std::string out;
  for (const Tick& tick : y_ticks) {
    const double y = at.y_place(tick.at);
    if (y < -kClose || y > at.along + kClose) continue;
    out += fmt::format("<path class=\"grid\" d=\"M{:.1f} {:.1f}H{:.1f}\"/>", at.left, at.top + y, right);
    out += text_at(at.left - 6, at.top + y + 4, "end", tick.text);
  }
  for (const Tick& tick : x_ticks) {
    const double x = at.x_place(tick.at);
    if (x < -kClose || x > at.across + kClose) continue;
    out += fmt::format("<path class=\"grid\" d=\"M{:.1f} {:.1f}V{:.1f}\"/>", at.left + x, at.top, bottom);
    out += text_at(at.left + x, bottom + 16, "middle", tick.text);
  }
  out += fmt::format("<path class=\"axis\" d=\"M{:.1f} {:.1f}V{:.1f}H{:.1f}\"/>", at.left, at.top, bottom, right);
  const auto most = static_cast<std::size_t>(at.across / kDigit);
  out += text_at(right, height - 8, "end", shortened(panel.x.label, most), kName);
  return out + text_at(4, at.top - 12, "start", shortened(panel.y.label, most), kName);
}

void check_lengths(const Panel& panel) {
  for (const Series& s : panel.series) {
    const bool has_high = s.style == Style::band || s.style == Style::bars;
    if (s.x.size() != s.y.size() || (has_high && s.y_high.size() != s.y.size()))
      fail("series '{}' has {} x, {} y and {} y_high values", s.title, s.x.size(), s.y.size(), s.y_high.size());
    if (s.style == Style::squares && (s.side.size() != s.x.size() || s.opacity.size() != s.x.size()))
      fail("series '{}' has {} squares, {} sides and {} opacities", s.title, s.x.size(), s.side.size(),
           s.opacity.size());
  }
}

// The classes of a page's charts, in a file's fixed colours.
std::string style_of_file() {
  std::string css =
      "svg.file{font:13px Helvetica,Arial,sans-serif}.file text{fill:#555}.file .name{fill:#222}.file .title{fill:#111;"
      "font-weight:bold}.file .back{fill:#fff}.file .axis{stroke:#888;fill:none}.file .grid{stroke:#ddd;fill:none}"
      ".file .line{fill:none;stroke-width:2;stroke-linejoin:round}.file .dashed{stroke-dasharray:6 4}"
      ".file .dotted{stroke-dasharray:2 4}.file .whisker{stroke-width:1.2;opacity:.5}.file "
      ".area{opacity:.28;stroke:none}"
      ".file .dot{stroke:none;opacity:.72}.file .hit{fill:none}";
  constexpr std::array<std::string_view, 10> kRgb = {"#000000", "#e69f00", "#56b4e9", "#009e73", "#f0e442",
                                                     "#0072b2", "#d55e00", "#cc79a7", "#888888", "#ffffff"};
  for (std::size_t k = 0; k < kRgb.size(); ++k)
    css += fmt::format(".file .s-{0}{{stroke:{1}}}.file .f-{0}{{fill:{1}}}", name_of(static_cast<Colour>(k)), kRgb[k]);
  return css;
}

struct Key {
  std::string element;
  double height = 0;
};

// Marks and titles of the series in rows below the panel.
Key key_of(const Panel& panel, double width) {
  Key key;
  constexpr double kLeft = 30, kMark = 22, kCharacter = 7.4, kBetween = 16;
  double x = kLeft, y = 0.5 * kKeyRow;
  if (!panel.has_key) return key;
  for (const Series& s : panel.series) {
    if (s.title.empty()) continue;
    const double needed = kMark + kCharacter * static_cast<double>(characters(s.title)) + kBetween;
    if (x > kLeft && x + needed > width) x = kLeft, y += kKeyRow;
    key.element += key_mark(s, x, y) + text_at(x + kMark, y + 4, "start", s.title);
    x += needed;
    key.height = y + 0.5 * kKeyRow;
  }
  return key;
}

}  // namespace

std::string panel_element(const Panel& panel, double width, double height) {
  check_lengths(panel);
  const Extent x = Extent::of_x(panel), y = Extent::of_y(panel);
  if (!x.is_drawable() || !y.is_drawable()) return {};
  const double along = height - kTop - kBottom;
  const std::vector<Tick> y_ticks = ticks_of(panel.y, y, static_cast<int>(std::clamp(along / 30, 2.0, 10.0)));
  const double left = std::clamp(14 + kDigit * static_cast<double>(longest(y_ticks)), 30.0, 150.0);
  Field at{x, y, left, kTop, width - left - kRight, along};
  if (panel.equal_axes) at.make_equal();
  const double room = at.across / (kDigit * static_cast<double>(longest(ticks_of(panel.x, x, 8))) + 14);
  const std::vector<Tick> x_ticks = ticks_of(panel.x, x, static_cast<int>(std::clamp(room, 2.0, 8.0)));
  std::string out = axes(at, panel, x_ticks, y_ticks, height);
  // An inner picture, which cuts off what lies outside the field.
  out += fmt::format("<svg x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\">", at.left, at.top, at.across,
                     at.along);
  for (const Series& s : panel.series) out += marks(at, s) + "\n";
  return out + "</svg>";
}

std::string svg(const Figure& figure) {
  constexpr double kTitle = 30, kPanelTitle = 24, kBelow = 10;
  const std::size_t panels = std::max<std::size_t>(1, figure.panels.size());
  const std::size_t columns = figure.columns == 0 ? panels : std::min(figure.columns, panels);
  const double width = figure.panel_width * static_cast<double>(columns);
  std::string body;
  double top = 6;
  if (!figure.title.empty()) {
    body += text_at(0.5 * width, top + 18, "middle", figure.title, " class=\"title\"");
    top += kTitle;
  }
  for (std::size_t first = 0; first < figure.panels.size(); first += columns) {
    double key_height = 0;
    for (std::size_t i = first; i < std::min(first + columns, figure.panels.size()); ++i) {
      const Panel& panel = figure.panels[i];
      const std::string element = panel_element(panel, figure.panel_width, figure.panel_height - kPanelTitle);
      const Key key = key_of(panel, figure.panel_width);
      key_height = std::max(key_height, key.height);
      body += fmt::format("<g transform=\"translate({:g} {:g})\">", figure.panel_width * static_cast<double>(i - first),
                          top);
      body += text_at(0.5 * figure.panel_width, 16, "middle", panel.title, kName);
      body += fmt::format("<g transform=\"translate(0 {})\">{}</g>", kPanelTitle,
                          element.empty() ? text_at(30, kTop, "start", "Nothing here can be drawn.") : element);
      body += fmt::format("<g transform=\"translate(0 {:g})\">{}</g></g>\n", figure.panel_height, key.element);
    }
    top += figure.panel_height + key_height + kBelow;
  }
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"file\" width=\"{0:g}\" height=\"{1:g}\" viewBox=\"0 0 {0:g} "
      "{1:g}\">\n<style>{2}</style>\n<rect class=\"back\" width=\"100%\" height=\"100%\"/>\n{3}</svg>\n",
      width, top, style_of_file(), body);
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else if (c == '\'')
      out += "&#39;";
    else
      out += c;
  }
  return out;
}

std::string shortened(std::string_view text, std::size_t most) {
  std::size_t count = 0, last = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0) == 0x80) continue;  // within a character of UTF-8
    if (++count == most) last = i;
    if (count > most) return std::string(text.substr(0, last)) + "…";
  }
  return std::string(text);
}

std::string_view name_of(Colour colour) {
  constexpr std::array<std::string_view, 10> kNames = {"black", "orange",     "sky",    "green", "yellow",
                                                       "blue",  "vermillion", "purple", "grey",  "white"};
  return kNames[static_cast<std::size_t>(colour)];
}

std::vector<double> ticks(double low, double high, int count) {
  const double raw = (high - low) / std::max(1, count);
  if (!(raw > 0) || !std::isfinite(raw)) return {};
  const double power = std::pow(10, std::floor(std::log10(raw)));
  double step = 10 * power;
  constexpr double kDenser = 0.75;  // rather a few more numbers than half of them
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= kDenser * raw) {
      step = factor * power;
      break;
    }
  std::vector<double> all;
  if (!(step > 0) || !std::isfinite(step)) return all;
  // By multiplication: adding steps up would give 0.30000000000000004.
  const double first = std::ceil(low / step - 1e-9);
  for (int k = 0; k <= 2 * count + 2; ++k) {
    const double value = (first + k) * step;
    if (value > high + 1e-9 * step) break;
    all.push_back(first + k == 0 ? 0 : value);
  }
  return all;
}

void check_picture(const std::filesystem::path& path) {
  if (!path.empty() && path.extension() != ".svg")
    fail("'{}' does not name a picture; a name that ends in .svg is expected", path.string());
}

void draw_picture(const Figure& figure, const std::filesystem::path& path) {
  check_picture(path);
  write_file(path, svg(figure));
}

}  // namespace dma::plot
