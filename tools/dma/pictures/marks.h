// The field between the axes of a panel: where values lie in it, and the marks of a series.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>

#include "tools/dma/pictures/figure.h"

namespace dma::plot {

// The ends of an axis in the units of the drawing: logarithms to base 10 if its scale is logarithmic. low > high turns
// the axis round.
struct Extent {
  double low = 0, high = 0;
  bool is_log = false;

  static Extent of_x(const Panel& panel);
  static Extent of_y(const Panel& panel);

  bool is_drawable() const {
    return std::isfinite(low) && std::isfinite(high) && std::isfinite(high - low) && low != high;
  }
  double least() const { return std::min(low, high); }
  double most() const { return std::max(low, high); }
  double place(double value) const { return is_log ? std::log10(value) : value; }
  double fraction(double value) const { return (place(value) - low) / (high - low); }
};

struct Field {
  Extent x, y;
  double left, top, across, along;  // pixels of the panel

  // Pixels of the field; a value far outside stays outside. Not a finite number for a value without a place, such as 0
  // on a logarithmic axis.
  double x_place(double value) const { return within(x.fraction(value)) * across; }
  double y_place(double value) const { return (1 - within(y.fraction(value))) * along; }

  // Shrinks the field until one unit is as long on both axes.
  void make_equal();

 private:
  static double within(double fraction) { return std::isfinite(fraction) ? std::clamp(fraction, -10.0, 11.0) : NAN; }
};

std::string marks(const Field& at, const Series& series);

// The mark of the series in a key, from (x, y) to the right.
std::string key_mark(const Series& series, double x, double y);

}  // namespace dma::plot
