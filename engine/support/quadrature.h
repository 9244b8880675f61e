// Integrals over a line cut into pieces, and roots: the two tools of exact messages.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <vector>

namespace dma::quadrature {

// The Gauss-Kronrod rule of fifteen points on [-1, 1], from the centre outwards. Every second point is one of Gauss's
// seven.
struct Node {
  double x, kronrod, gauss;
};
const std::array<Node, 8>& kronrod_rule();

// The fifteen points of the rule on one panel, with the values of f there.
struct Panel {
  struct Point {
    double x, kronrod, gauss, value;
  };
  struct Estimate {
    double value, error;
  };
  double low, high;
  Point points[15];

  template <class F>
  Panel(const F& f, double a, double b) : low(a), high(b) {
    const double middle = 0.5 * (a + b), half = 0.5 * (b - a);
    std::size_t count = 0;
    for (const Node& node : kronrod_rule())
      for (const int side : {-1, 1}) {
        if (count == 1 && side == 1) continue;  // the centre is one point
        const double x = middle + side * half * node.x;
        points[count++] = {x, half * node.kronrod, half * node.gauss, f(x)};
      }
  }

  // Estimates the integral of f h over the panel, f h >= 0.
  template <class H>
  Estimate estimate(const H& h) const {
    double fine = 0, coarse = 0;
    for (const Point& p : points) {
      const double y = p.value * h(p.x);
      fine += p.kronrod * y;
      coarse += p.gauss * y;
    }
    // Kronrod's rule is far better than its difference from Gauss's: the customary sharpening.
    const double difference = std::abs(fine - coarse);
    return {fine, fine > 0 ? std::min(difference, std::pow(200 * difference / fine, 1.5) * fine) : difference};
  }
  Estimate estimate() const {
    return estimate([](double) { return 1.0; });
  }
};

template <class F>
double refined(const F& f, const Panel& panel, double allowed, int depth) {
  const auto [value, error] = panel.estimate();
  if (error <= allowed || depth == 0) return value;
  const double middle = 0.5 * (panel.low + panel.high);
  return refined(f, Panel(f, panel.low, middle), allowed, depth - 1) +
         refined(f, Panel(f, middle, panel.high), allowed, depth - 1);
}

// The integral of f >= 0 over [points.front(), points.back()], with f smooth between the points (sorted). Pieces are
// halved until the error of each is below `tolerance` times the whole.
template <class F>
double integral(const F& f, const std::vector<double>& points, double tolerance, int depth) {
  const double smallest = 1e-14 * (points.back() - points.front());
  std::vector<Panel> panels;
  double whole = 0;
  for (std::size_t i = 0; i + 1 < points.size(); ++i)
    if (points[i + 1] - points[i] > smallest) {
      panels.emplace_back(f, points[i], points[i + 1]);
      whole += panels.back().estimate().value;
    }
  double sum = 0;
  for (const Panel& panel : panels) sum += refined(f, panel, tolerance * whole, depth);
  return sum;
}

struct Bracket {
  double low, high;
  double middle() const { return 0.5 * (low + high); }
};
// The root of h between low and high, where its given values have opposite signs: to so many bits, by Algorithm 748 of
// the ACM, in at most a hundred steps.
Bracket bracket_root(const std::function<double(double)>& h, double low, double high, double at_low, double at_high,
                     int bits = 53);

// Visits every root of h on [low, high] that changes sign between neighbours of an even grid: two roots in one cell are
// missed.
template <class H, class Visit>
void for_each_root(const H& h, double low, double high, int cells, const Visit& visit) {
  double a = low, ha = h(a);
  for (int i = 1; i <= cells; ++i) {
    const double b = low + (high - low) * i / cells, hb = h(b);
    if (ha == 0)
      visit(a);
    else if (ha * hb < 0)
      visit(bracket_root(h, a, b, ha, hb).middle());
    a = b;
    ha = hb;
  }
}

}  // namespace dma::quadrature
