#include "tools/dma/pictures/marks.h"

#include <fmt/format.h>

#include "tools/dma/pictures/svg.h"

namespace dma::plot {

namespace {

using Doubles = std::vector<double>;

// The bounds of the axis if it has any; otherwise those of all values that have a place on it, and a little room.
Extent extent_of(const Axis& axis, const Doubles& values) {
  constexpr double kRoom = 0.04;
  Extent e{HUGE_VAL, -HUGE_VAL, axis.scale == Scale::log};
  for (const double value : values)
    if (const double place = e.place(value); std::isfinite(place)) {
      e.low = std::min(e.low, place);
      e.high = std::max(e.high, place);
    }
  if (e.low == e.high) {
    const double around = e.low == 0 || e.is_log ? 1 : 0.1 * std::abs(e.low);
    e.low -= around;
    e.high += around;
  }
  const double margin = kRoom * (e.high - e.low);
  e.low = std::isnan(axis.low) ? e.low - margin : e.place(axis.low);
  e.high = std::isnan(axis.high) ? e.high + margin : e.place(axis.high);
  return e;
}

// With an element's note where it has one.
std::string with_note(std::string_view element, std::string_view rest, const Series& series, std::size_t i) {
  if (i >= series.notes.size()) return fmt::format("<{} {}/>", element, rest);
  return fmt::format("<{} {}><title>{}</title></{}>", element, rest, escaped(series.notes[i]), element);
}

struct Point {
  double x, y, high;
  bool is_seen() const { return std::isfinite(x) && std::isfinite(y); }
  bool has_high() const { return is_seen() && std::isfinite(high); }
};

Point point(const Field& at, const Series& s, std::size_t i) {
  return {at.x_place(s.x[i]), at.y_place(s.y[i]), i < s.y_high.size() ? at.y_place(s.y_high[i]) : NAN};
}

std::string_view css_of(Style style) {
  return style == Style::dashed ? " dashed" : style == Style::dotted ? " dotted" : "";
}

std::string stroke(double width) { return width == 2 ? "" : fmt::format(" style=\"stroke-width:{:g}\"", width); }

double radius(const Series& s) { return 1.6 + 0.8 * s.width; }

std::string line_marks(const Field& at, const Series& s) {
  std::string path;
  bool pen_is_down = false;
  for (std::size_t i = 0; i < s.x.size(); ++i) {
    const Point p = point(at, s, i);
    if (p.is_seen()) path += fmt::format("{}{:.1f} {:.1f}", pen_is_down ? "L" : "M", p.x, p.y);
    pen_is_down = p.is_seen();
  }
  return fmt::format("<path class=\"line{} s-{}\" d=\"{}\"{}/>", css_of(s.style), name_of(s.colour), path,
                     stroke(s.width));
}

std::string point_marks(const Field& at, const Series& s) {
  std::string out;
  for (std::size_t i = 0; i < s.x.size(); ++i)
    if (const Point p = point(at, s, i); p.is_seen())
      out += with_note("circle",
                       fmt::format("class=\"dot f-{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\"", name_of(s.colour),
                                   p.x, p.y, radius(s)),
                       s, i);
  return out;
}

// Between y and y_high, or the foot of the field.
std::string area_marks(const Field& at, const Series& s) {
  std::string forth, back;
  const double foot = at.y.is_log ? at.along : at.y_place(0);
  for (std::size_t i = 0; i < s.x.size(); ++i) {
    Point p = point(at, s, i);
    if (s.style == Style::area) p.high = foot;
    if (!p.has_high()) continue;
    forth += fmt::format("{}{:.1f} {:.1f}", forth.empty() ? "M" : "L", p.x, p.y);
    back = fmt::format("L{:.1f} {:.1f}", p.x, p.high) + back;
  }
  return fmt::format("<path class=\"area f-{}\" d=\"{}{}Z\"/>", name_of(s.colour), forth, back);
}

std::string bar_marks(const Field& at, const Series& s) {
  std::string path;
  for (std::size_t i = 0; i < s.x.size(); ++i)
    if (const Point p = point(at, s, i); p.has_high()) path += fmt::format("M{:.1f} {:.1f}V{:.1f}", p.x, p.y, p.high);
  return fmt::format("<path class=\"line whisker s-{}\" d=\"{}\"/>", name_of(s.colour), path);
}

std::string square_marks(const Field& at, const Series& s) {
  std::string out;
  for (std::size_t i = 0; i < s.x.size(); ++i) {
    const Point p = point(at, s, i);
    const double side = s.side[i] / std::abs(at.x.high - at.x.low) * at.across;
    if (p.is_seen() && std::isfinite(side))
      out += fmt::format(
          "<rect class=\"f-{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill-opacity=\"{:.2f}\"/>",
          name_of(s.colour), p.x - side / 2, p.y - side / 2, side, side, s.opacity[i]);
  }
  return out;
}

// Upright stripes, each around one point of a line with notes, so that a finger finds it.
std::string stripes(const Field& at, const Series& s) {
  std::string out;
  for (std::size_t i = 0; i < s.x.size() && i < s.notes.size(); ++i) {
    const double here = at.x_place(s.x[i]);
    const double from = i == 0 ? here - 6 : 0.5 * (at.x_place(s.x[i - 1]) + here);
    const double to = i + 1 == s.x.size() ? here + 6 : 0.5 * (at.x_place(s.x[i + 1]) + here);
    if (std::isfinite(from) && std::isfinite(to) && from < to)
      out += with_note("rect",
                       fmt::format("class=\"hit\" x=\"{:.1f}\" y=\"0\" width=\"{:.1f}\" height=\"{:.1f}\"", from,
                                   to - from, at.along),
                       s, i);
  }
  return out;
}

}  // namespace

Extent Extent::of_x(const Panel& panel) {
  Doubles all;
  for (const Series& s : panel.series) all.insert(all.end(), s.x.begin(), s.x.end());
  return extent_of(panel.x, all);
}

Extent Extent::of_y(const Panel& panel) {
  Doubles all;
  for (const Series& s : panel.series)
    for (const Doubles* values : {&s.y, &s.y_high}) all.insert(all.end(), values->begin(), values->end());
  return extent_of(panel.y, all);
}

void Field::make_equal() {
  const double unit = std::min(across / std::abs(x.high - x.low), along / std::abs(y.high - y.low));
  across = unit * std::abs(x.high - x.low);
  along = unit * std::abs(y.high - y.low);
}

std::string marks(const Field& at, const Series& s) {
  switch (s.style) {
    case Style::line:
      return line_marks(at, s) + stripes(at, s);
    case Style::dashed:
    case Style::dotted:
      return line_marks(at, s);
    case Style::points:
      return point_marks(at, s);
    case Style::line_points:
      return line_marks(at, s) + point_marks(at, s);
    case Style::area:
    case Style::band:
      return area_marks(at, s);
    case Style::bars:
      return bar_marks(at, s);
    case Style::squares:
      return square_marks(at, s);
  }
  return {};
}

std::string key_mark(const Series& s, double x, double y) {
  switch (s.style) {
    case Style::line:
    case Style::dashed:
    case Style::dotted:
    case Style::line_points:
    case Style::bars:
      return fmt::format("<path class=\"line{} s-{}\" d=\"M{:.1f} {:.1f}h16\"/>", css_of(s.style), name_of(s.colour), x,
                         y);
    case Style::points:
      return fmt::format("<circle class=\"dot f-{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\"/>", name_of(s.colour), x + 8,
                         y);
    case Style::area:
    case Style::band:
    case Style::squares:
      return fmt::format("<rect class=\"{}f-{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"16\" height=\"10\"/>",
                         s.style == Style::squares ? "" : "area ", name_of(s.colour), x, y - 5);
  }
  return {};
}

}  // namespace dma::plot
