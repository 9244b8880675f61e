#include "engine/certify/curve.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "engine/support/quadrature.h"

namespace dma {

namespace {

using quadrature::Panel;

// Panels end at these distances from a hint's centre, in its lengths. Beyond the last, a Gaussian is 0 in double.
constexpr std::array kNear = {0.5, 1.0, 2.0, 3.0, 4.5, 6.0, 8.0, 11.0, 15.0, 25.0, 40.0};
// Decades beyond them in which to look for a tail that does not end.
constexpr int kDecades = 9;
// A tail is endless if a decade of distance holds more than this fraction of the mass of the one before: 1/|x| gives 1,
// and 1/|x|^1.3, a density that still has a mass, gives 0.5.
constexpr double kEndless = 0.5;
constexpr int kTailDepth = 8;
// Halvings of one curve: a density with noise of its own (a derivative by differences, near a pole) would go on for
// ever. What they leave is in the curve's error.
constexpr int kMostCuts = 3000;
// Below this fraction of the mass a decade counts as empty.
constexpr double kNothing = 1e-60;

class Tracer {
 public:
  Tracer(const std::function<double(double)>& f, const Hint& main, const TraceOptions& options)
      : f_(f), main_(main), options_(options) {}

  Panel panel(double a, double b) const { return Panel(f_, a, b); }

  // Halves panels, those known worst first, until all are resolved; returns their mass.
  double resolve(std::vector<Panel> panels, double whole, int depth, Curve& curve) const {
    struct Part {
      Panel panel;
      double error;
      int depth;
    };
    const auto is_better = [](const Part& a, const Part& b) { return a.error < b.error; };
    std::vector<Part> parts;
    for (const Panel& panel : panels) parts.push_back({panel, largest_error(panel), depth});
    std::ranges::make_heap(parts, is_better);
    for (int halvings = 0;
         halvings < kMostCuts && !parts.empty() && parts.front().error > options_.tolerance * whole;) {
      std::ranges::pop_heap(parts, is_better);
      const Part worst = parts.back();
      parts.pop_back();
      if (worst.depth == 0) {
        parts.push_back({worst.panel, 0, 0});
        std::ranges::push_heap(parts, is_better);
        continue;
      }
      ++halvings;
      const double low = worst.panel.low, high = worst.panel.high, middle = 0.5 * (low + high);
      for (const auto& [a, b] : {std::pair(low, middle), std::pair(middle, high)}) {
        const Panel half(f_, a, b);
        parts.push_back({half, largest_error(half), worst.depth - 1});
        std::ranges::push_heap(parts, is_better);
      }
    }
    double sum = 0;
    for (const Part& part : parts) {
      const auto [mass, error] = part.panel.estimate();
      sum += mass;
      curve.error += error;
      for (const Panel::Point& p : part.panel.points)
        if (p.value > 0) curve.nodes.push_back({p.x, p.kronrod, p.value});
    }
    return sum;
  }

 private:
  // Errors of the mass, of the second moment, and of the mass under every weight.
  double largest_error(const Panel& panel) const {
    const auto moment = [&](double x) {
      const double u = (x - main_.centre) / main_.scale;
      return 1 + u * u;
    };
    double largest = panel.estimate(moment).error;
    for (const Gaussian& g : options_.weights) {
      const double peak = log_density(g, g.mean());
      const auto scaled = [&](double x) { return std::exp(log_density(g, x) - peak); };
      largest = std::max(largest, panel.estimate(scaled).error);
    }
    return largest;
  }

  const std::function<double(double)>& f_;
  Hint main_;
  const TraceOptions& options_;
};

// Follows f outwards from `from`, away from 0, decade by decade of distance. A tail that ends belongs to the curve; one
// that does not makes it improper and is left out.
void add_tail(const Tracer& tracer, double from, double whole, Curve& curve) {
  Curve outer;
  double before = 0, last = 0;
  for (int k = 0; k < kDecades; ++k, from *= 10) {
    before = last;
    last =
        tracer.resolve({tracer.panel(std::min(from, 10 * from), std::max(from, 10 * from))}, whole, kTailDepth, outer);
    outer.mass += last;
    if (last < kNothing * curve.mass) break;
  }
  const bool endless = last > kEndless * before && last >= kNothing * curve.mass;
  curve.tail = std::max(curve.tail, last / curve.mass);
  if (endless) {
    curve.proper = false;
  } else {
    curve.mass += outer.mass;
    curve.nodes.insert(curve.nodes.end(), outer.nodes.begin(), outer.nodes.end());
  }
}

// Sorted; the first is below and the last above 0.
std::vector<double> panel_ends(const std::vector<Hint>& hints, const std::vector<Gaussian>& weights) {
  std::vector<double> ends = {0};  // a kink is likeliest at 0
  const auto add = [&](double centre, double scale, const auto& steps) {
    ends.push_back(centre);
    for (const double step : steps) ends.push_back(centre - step * scale), ends.push_back(centre + step * scale);
  };
  for (const Hint& h : hints) {
    add(h.centre, h.scale, kNear);
    add(0, std::abs(h.centre) + h.scale, std::array{1.0});
  }
  for (const Gaussian& g : weights) add(g.mean(), g.sd(), std::array{1.0, 4.0, 12.0});
  std::ranges::sort(ends);
  // Ends that coincide to rounding leave panels of no width.
  const double smallest = 1e-14 * (ends.back() - ends.front());
  std::vector<double> kept;
  for (const double x : ends)
    if (kept.empty() || x - kept.back() > smallest) kept.push_back(x);
  return kept;
}

}  // namespace

double Curve::mean() const {
  return integral([](double x) { return x; }) / mass;
}

double Curve::variance() const {
  const double m = mean();
  return integral([m](double x) { return (x - m) * (x - m); }) / mass;
}

Curve Curve::times(const Gaussian& g) const {
  Curve product = *this;
  product.mass = 0;
  for (Node& node : product.nodes) {
    node.value *= std::exp(log_density(g, node.x));
    product.mass += node.weight * node.value;
  }
  product.proper = product.mass > 0;
  return product;
}

double Curve::kl(const Gaussian& q) const {
  const double log_mass = std::log(mass);  // value / mass may underflow where value does not
  double sum = 0;
  for (const Node& node : nodes)
    if (node.value > 0) sum += node.weight * node.value * (std::log(node.value) - log_mass - log_density(q, node.x));
  return sum / mass;
}

Curve trace(const std::function<double(double)>& f, const std::vector<Hint>& given, const TraceOptions& options) {
  std::vector<Hint> hints;  // a function that is nowhere a number has no place to look at
  std::ranges::copy_if(given, std::back_inserter(hints),
                       [](const Hint& h) { return std::isfinite(h.centre) && std::isfinite(h.scale); });
  if (hints.empty()) {
    Curve nothing;
    nothing.proper = false;
    return nothing;
  }
  const std::vector<double> ends = panel_ends(hints, options.weights);
  const Hint& main = hints.front();
  const Tracer tracer(f, main, options);
  std::vector<Panel> panels;
  double whole = 0;
  for (std::size_t i = 0; i + 1 < ends.size(); ++i) {
    panels.push_back(tracer.panel(ends[i], ends[i + 1]));
    whole += panels.back().estimate().value;
  }
  Curve curve;
  curve.mass = tracer.resolve(std::move(panels), whole, options.depth, curve);
  if (!(curve.mass > 0)) {
    curve.proper = false;
    return curve;
  }
  curve.error /= curve.mass;
  for (const int side : {-1, 1}) add_tail(tracer, side < 0 ? ends.front() : ends.back(), whole, curve);
  return curve;
}

}  // namespace dma
