#include "engine/certify/curve.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/support/quadrature.h"

namespace dma {

namespace {

using quadrature::Panel;

// Panels end at these distances from a hint's centre, in its lengths. Beyond the last, a Gaussian is 0 in double.
constexpr std::array kNear = {0.5, 1.0, 2.0, 3.0, 4.5, 6.0, 8.0, 11.0, 15.0, 25.0, 40.0};
// Decades beyond them in which to look for a tail that does not end.
constexpr int kDecades = 9;
// A tail is endless if a decade of distance holds more than this share of the mass of the one before: 1/|x| gives 1,
// and 1/|x|^1.3, a density that still has a mass, gives 0.5.
constexpr double kEndless = 0.5;
constexpr int kTailDepth = 8;
// Below this share of the mass a decade counts as empty.
constexpr double kNothing = 1e-60;

class Tracer {
 public:
  Tracer(const std::function<double(double)>& f, const Hint& main, const TraceOptions& options)
      : f_(f), main_(main), options_(options) {}

  Panel panel(double a, double b) const { return Panel(f_, a, b); }

  // Halves the panel until it is resolved; returns its mass.
  double resolve(const Panel& panel, double whole, int depth, Curve& curve) const {
    const auto [mass, error] = panel.estimate();
    if (depth > 0 && !resolved(panel, whole)) {
      const double middle = 0.5 * (panel.low + panel.high);
      return resolve(Panel(f_, panel.low, middle), whole, depth - 1, curve) +
             resolve(Panel(f_, middle, panel.high), whole, depth - 1, curve);
    }
    curve.error += error;
    for (const Panel::Point& p : panel.points)
      if (p.value > 0) curve.nodes.push_back({p.x, p.kronrod, p.value});
    return mass;
  }

 private:
  bool resolved(const Panel& panel, double whole) const {
    const auto moment = [&](double x) {
      const double u = (x - main_.centre) / main_.scale;
      return 1 + u * u;
    };
    if (panel.estimate(moment).error > options_.tolerance * whole) return false;
    for (const Gaussian& g : options_.weights) {
      const double peak = log_density(g, g.mean());
      const auto scaled = [&](double x) { return std::exp(log_density(g, x) - peak); };
      if (panel.estimate(scaled).error > options_.tolerance * whole) return false;
    }
    return true;
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
    last = tracer.resolve(tracer.panel(std::min(from, 10 * from), std::max(from, 10 * from)), whole, kTailDepth, outer);
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
  std::vector<double> ends = {0};  // where a kink is likeliest
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

Curve trace(const std::function<double(double)>& f, const std::vector<Hint>& hints, const TraceOptions& options) {
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
  for (const Panel& panel : panels) curve.mass += tracer.resolve(panel, whole, options.depth, curve);
  if (!(curve.mass > 0)) {
    curve.proper = false;
    return curve;
  }
  curve.error /= curve.mass;
  for (const int side : {-1, 1}) add_tail(tracer, side < 0 ? ends.front() : ends.back(), whole, curve);
  return curve;
}

}  // namespace dma
