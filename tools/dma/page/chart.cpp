#include "tools/dma/page/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/support/error.h"
#include "tools/dma/page/html.h"

namespace dma::page {

namespace {

using plot::Series;
using plot::Style;

constexpr double kWidth = 420, kHeight = 290, kTop = 26, kRight = 14, kBottom = 44, kDigit = 6.8;

struct Extent {
  double low = 0, high = 0;
  bool is_drawable() const {
    return std::isfinite(low) && std::isfinite(high) && std::isfinite(high - low) && low < high;
  }
};

// What the axis asks for; otherwise all finite values, and a little room.
Extent extent_of(const plot::Axis& axis, const std::vector<Series>& all, bool horizontal) {
  double low = HUGE_VAL, high = -HUGE_VAL;
  const auto include = [&](const std::vector<double>& values) {
    for (const double value : values)
      if (std::isfinite(value)) low = std::min(low, value), high = std::max(high, value);
  };
  for (const Series& series : all) {
    include(horizontal ? series.x : series.y);
    if (!horizontal) include(series.y_high);
  }
  if (low == high) {
    const double room = low == 0 ? 1 : 0.1 * std::abs(low);
    low -= room, high += room;
  }
  const double margin = 0.04 * (high - low);
  return {std::isnan(axis.low) ? low - margin : axis.low, std::isnan(axis.high) ? high + margin : axis.high};
}

std::string tick_text(double value) { return fmt::format("{:.10g}", value); }

class Canvas {
 public:
  Canvas(Extent x, Extent y, double left) : x_(x), y_(y), left_(left) {}
  double across() const { return kWidth - left_ - kRight; }
  double along() const { return kHeight - kTop - kBottom; }
  double left() const { return left_; }
  // Within the field; far outside where the value is.
  double x(double value) const { return within((value - x_.low) / (x_.high - x_.low)) * across(); }
  double y(double value) const { return (1 - within((value - y_.low) / (y_.high - y_.low))) * along(); }

 private:
  static double within(double fraction) { return std::clamp(fraction, -10.0, 11.0); }
  Extent x_, y_;
  double left_;
};

std::string with_note(std::string_view element, std::string_view rest, const Series& series, std::size_t i) {
  if (i >= series.notes.size()) return fmt::format("<{} {}/>", element, rest);
  return fmt::format("<{} {}><title>{}</title></{}>", element, rest, escaped(series.notes[i]), element);
}

bool is_seen(const Series& s, std::size_t i) { return std::isfinite(s.x[i]) && std::isfinite(s.y[i]); }

std::string drawn_line(const Canvas& at, const Series& s, std::string_view css) {
  std::string path;
  bool pen_is_down = false;
  for (std::size_t i = 0; i < s.x.size(); ++i) {
    if (is_seen(s, i)) path += fmt::format("{}{:.1f} {:.1f}", pen_is_down ? "L" : "M", at.x(s.x[i]), at.y(s.y[i]));
    pen_is_down = is_seen(s, i);
  }
  return fmt::format("<path class=\"line {} s-{}\" d=\"{}\"/>", css, name_of(s.colour), path);
}

std::string drawn_points(const Canvas& at, const Series& s) {
  std::string out;
  const double radius = 1.6 + 0.8 * s.width;
  for (std::size_t i = 0; i < s.x.size(); ++i)
    if (is_seen(s, i))
      out += with_note("circle",
                       fmt::format("class=\"dot f-{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\"", name_of(s.colour),
                                   at.x(s.x[i]), at.y(s.y[i]), radius),
                       s, i);
  return out;
}

std::string drawn_band(const Canvas& at, const Series& s) {
  std::string forth, back;
  for (std::size_t i = 0; i < s.x.size(); ++i) {
    if (!is_seen(s, i) || !std::isfinite(s.y_high[i])) continue;
    forth += fmt::format("{}{:.1f} {:.1f}", forth.empty() ? "M" : "L", at.x(s.x[i]), at.y(s.y[i]));
    back = fmt::format("L{:.1f} {:.1f}", at.x(s.x[i]), at.y(s.y_high[i])) + back;
  }
  return fmt::format("<path class=\"area f-{}\" d=\"{}{}Z\"/>", name_of(s.colour), forth, back);
}

std::string drawn_bars(const Canvas& at, const Series& s) {
  std::string path;
  for (std::size_t i = 0; i < s.x.size(); ++i)
    if (is_seen(s, i) && std::isfinite(s.y_high[i]))
      path += fmt::format("M{:.1f} {:.1f}V{:.1f}", at.x(s.x[i]), at.y(s.y[i]), at.y(s.y_high[i]));
  return fmt::format("<path class=\"line whisker s-{}\" d=\"{}\"/>", name_of(s.colour), path);
}

// Of a line with notes: upright stripes, each around one of its points, so that a finger finds it.
std::string stripes(const Canvas& at, const Series& s) {
  std::string out;
  for (std::size_t i = 0; i < s.x.size() && i < s.notes.size(); ++i) {
    const double here = at.x(s.x[i]);
    const double from = i == 0 ? here - 6 : 0.5 * (at.x(s.x[i - 1]) + here);
    const double to = i + 1 == s.x.size() ? here + 6 : 0.5 * (at.x(s.x[i + 1]) + here);
    if (std::isfinite(from) && std::isfinite(to) && from < to)
      out += with_note("rect",
                       fmt::format("class=\"hit\" x=\"{:.1f}\" y=\"0\" width=\"{:.1f}\" height=\"{:.1f}\"", from,
                                   to - from, at.along()),
                       s, i);
  }
  return out;
}

std::string drawn(const Canvas& at, const Series& s) {
  switch (s.style) {
    case Style::line:
      return drawn_line(at, s, "") + stripes(at, s);
    case Style::dashed:
      return drawn_line(at, s, "dashed");
    case Style::dotted:
      return drawn_line(at, s, "dotted");
    case Style::points:
      return drawn_points(at, s);
    case Style::line_points:
      return drawn_line(at, s, "") + drawn_points(at, s);
    case Style::band:
      return drawn_band(at, s);
    case Style::bars:
      return drawn_bars(at, s);
    default:
      fail("a page draws lines, points, bands and bars; another style is asked for");
  }
}

std::string axes(const Canvas& at, const plot::Panel& panel, const std::vector<double>& x_ticks,
                 const std::vector<double>& y_ticks) {
  const double bottom = kTop + at.along(), right = at.left() + at.across();
  std::string out;
  for (const double tick : y_ticks) {
    const double y = kTop + at.y(tick);
    out += fmt::format(
        "<path class=\"grid\" d=\"M{:.1f} {:.1f}H{:.1f}\"/><text x=\"{:.1f}\" y=\"{:.1f}\" "
        "text-anchor=\"end\">{}</text>",
        at.left(), y, right, at.left() - 6, y + 4, tick_text(tick));
  }
  for (std::size_t i = 0; i < x_ticks.size(); ++i) {
    const double x = at.left() + at.x(x_ticks[i]);
    out += fmt::format(
        "<path class=\"grid\" d=\"M{:.1f} {:.1f}V{:.1f}\"/><text x=\"{:.1f}\" y=\"{:.1f}\" "
        "text-anchor=\"middle\">{}</text>",
        x, kTop, bottom, x, bottom + 16, panel.x.places.empty() ? tick_text(x_ticks[i]) : escaped(panel.x.names[i]));
  }
  out += fmt::format("<path class=\"axis\" d=\"M{:.1f} {:.1f}V{:.1f}H{:.1f}\"/>", at.left(), kTop, bottom, right);
  constexpr std::size_t kMostOfLabel = 52;
  out += fmt::format("<text class=\"name\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>", right, kHeight - 8,
                     escaped(shortened(panel.x.label, kMostOfLabel)));
  out +=
      fmt::format("<text class=\"name\" x=\"4\" y=\"14\">{}</text>", escaped(shortened(panel.y.label, kMostOfLabel)));
  return out;
}

std::string key(const plot::Panel& panel) {
  std::string out;
  if (panel.key != "off")
    for (const Series& s : panel.series)
      if (!s.title.empty())
        out += fmt::format("<span><i class=\"b-{}\"></i>{}</span>", name_of(s.colour), escaped(s.title));
  return out.empty() ? "" : fmt::format("<div class=\"key\">{}</div>", out);
}

std::string picture(const plot::Panel& panel) {
  const Extent x = extent_of(panel.x, panel.series, true), y = extent_of(panel.y, panel.series, false);
  if (!x.is_drawable() || !y.is_drawable()) return "<p class=\"soft\">Nothing here can be drawn.</p>";
  const auto y_ticks = ticks(y.low, y.high, 7);
  std::size_t longest = 1;
  for (const double tick : y_ticks) longest = std::max(longest, tick_text(tick).size());
  const Canvas at(x, y, std::clamp(14 + kDigit * static_cast<double>(longest), 30.0, 130.0));
  std::size_t longest_x = 1;
  for (const double tick : ticks(x.low, x.high, 8)) longest_x = std::max(longest_x, tick_text(tick).size());
  const int room = static_cast<int>(at.across() / (kDigit * static_cast<double>(longest_x) + 14));
  std::string out = fmt::format("<svg class=\"chart\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">", kWidth,
                                kHeight, escaped(panel.title));
  const bool is_named = !panel.x.places.empty();
  out += axes(at, panel, is_named ? panel.x.places : ticks(x.low, x.high, std::clamp(room, 2, 8)), y_ticks);
  // An inner picture, which cuts off what lies outside the field.
  out += fmt::format("<svg x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\">", at.left(), kTop, at.across(),
                     at.along());
  for (const Series& s : panel.series) out += drawn(at, s) + "\n";
  return out + "</svg></svg>\n";
}

}  // namespace

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
  // Counted, not added up: 0.30000000000000004 is nobody's tick.
  const double first = std::ceil(low / step - 1e-9);
  for (int k = 0; k <= 2 * count + 2; ++k) {
    const double value = (first + k) * step;
    if (value > high + 1e-9 * step) break;
    all.push_back(first + k == 0 ? 0 : value);
  }
  return all;
}

std::string shortened(std::string_view text, std::size_t most) {
  std::size_t characters = 0, last = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0) == 0x80) continue;  // within a character of UTF-8
    if (++characters == most) last = i;
    if (characters > most) return std::string(text.substr(0, last)) + "…";
  }
  return std::string(text);
}

std::string_view name_of(plot::Colour colour) {
  constexpr std::array<std::string_view, 10> kNames = {"black", "orange",     "sky",    "green", "yellow",
                                                       "blue",  "vermillion", "purple", "grey",  "white"};
  return kNames[static_cast<std::size_t>(colour)];
}

std::string figure(const plot::Panel& panel, std::string_view caption) {
  return fmt::format("<figure><h4>{}</h4>{}{}<figcaption>{}</figcaption></figure>\n", escaped(panel.title),
                     picture(panel), key(panel), caption);
}

}  // namespace dma::page
