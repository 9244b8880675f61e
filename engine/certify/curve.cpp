#include "engine/certify/curve.h"

#include <algorithm>
#include <boost/math/quadrature/gauss_kronrod.hpp>
#include <cmath>

namespace dma {

namespace {

using Kronrod = boost::math::quadrature::gauss_kronrod<double, 15>;
using Gauss = boost::math::quadrature::gauss<double, 7>;

// Panels end at these distances from a hint's centre, in its lengths. Beyond the last, a Gaussian is 0 in double.
constexpr double kNear[] = {0.5, 1, 2, 3, 4.5, 6, 8, 11, 15, 20, 40};
// Decades beyond them in which to look for a tail that does not end.
constexpr int kDecades = 9;
// A tail is endless if a decade of distance holds more than this share of the mass of the one before: 1/|x| gives 1,
// and 1/|x|^1.3, a density that still has a mass, gives 0.5.
constexpr double kEndless = 0.5;
// Below this share of the mass a decade counts as empty.
constexpr double kNothing = 1e-60;

class Tracer {
 public:
  Tracer(const std::function<double(double)>& f, const Hint& main, const TraceOptions& options)
      : f_(f), main_(main), options_(options) {}

  // Splits [a, b] until it is resolved; returns its mass.
  double panel(double a, double b, double whole, int depth, Curve& curve) const {
    const double middle = 0.5 * (a + b), half = 0.5 * (b - a);
    Sample samples[15];
    std::size_t count = 0;
    const auto& abscissa = Kronrod::abscissa();
    for (std::size_t i = 0; i < abscissa.size(); ++i)
      for (const int side : {-1, 1}) {
        if (i == 0 && side == 1) continue;
        const double x = middle + side * half * abscissa[i];
        // Boost's seven Gauss points are every second of the fifteen, from the centre outwards.
        const double gauss = i % 2 == 0 ? half * Gauss::weights()[i / 2] : 0.0;
        samples[count++] = {x, half * Kronrod::weights()[i], gauss, f_(x)};
      }
    const double mass = estimate(samples, [](double) { return 1.0; }).value;
    if (depth < options_.depth && !resolved(samples, whole))
      return panel(a, middle, whole, depth + 1, curve) + panel(middle, b, whole, depth + 1, curve);
    curve.error += estimate(samples, [](double) { return 1.0; }).error;
    for (const Sample& s : samples)
      if (s.value > 0) curve.nodes.push_back({s.x, s.kronrod, s.value});
    return mass;
  }

 private:
  struct Sample {
    double x, kronrod, gauss, value;
  };
  struct Estimate {
    double value, error;
  };
  template <class H>
  static Estimate estimate(const Sample (&samples)[15], const H& h) {
    double fine = 0, coarse = 0;
    for (const Sample& s : samples) {
      const double y = s.value * h(s.x);
      fine += s.kronrod * y;
      coarse += s.gauss * y;
    }
    // Kronrod's rule is far better than the difference: the usual sharpening of the estimate.
    const double difference = std::abs(fine - coarse);
    return {fine, std::min(difference, std::pow(200 * difference / std::max(fine, 1e-300), 1.5) * fine)};
  }

  bool resolved(const Sample (&samples)[15], double whole) const {
    const auto moment = [&](double x) {
      const double u = (x - main_.centre) / main_.scale;
      return 1 + u * u;
    };
    if (estimate(samples, moment).error > options_.tolerance * whole) return false;
    for (const Gaussian& g : options_.weights) {
      const double peak = log_density(g, g.mean());
      const auto scaled = [&](double x) { return std::exp(log_density(g, x) - peak); };
      if (estimate(samples, scaled).error > options_.tolerance * whole) return false;
    }
    return true;
  }

  const std::function<double(double)>& f_;
  Hint main_;
  const TraceOptions& options_;
};

std::vector<double> panel_ends(const std::vector<Hint>& hints) {
  std::vector<double> ends = {0};  // where a kink is likeliest
  for (const Hint& h : hints) {
    ends.push_back(h.centre);
    for (const double step : kNear) ends.push_back(h.centre - step * h.scale), ends.push_back(h.centre + step * h.scale);
  }
  const double low = hints.front().centre - 40 * hints.front().scale, high = hints.front().centre + 40 * hints.front().scale;
  std::erase_if(ends, [&](double x) { return x < low || x > high; });
  std::ranges::sort(ends);
  // Ends that coincide to rounding leave panels of no width.
  const double smallest = 1e-12 * (high - low);
  std::vector<double> kept;
  for (const double x : ends)
    if (kept.empty() || x - kept.back() > smallest) kept.push_back(x);
  return kept;
}

}  // namespace

double Curve::mean() const { return integral([](double x) { return x; }) / mass; }

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
  double sum = 0;
  for (const Node& node : nodes)
    if (node.value > 0) sum += node.weight * node.value * (std::log(node.value / mass) - log_density(q, node.x));
  return sum / mass;
}

Curve trace(const std::function<double(double)>& f, const std::vector<Hint>& hints, const TraceOptions& options) {
  const std::vector<double> ends = panel_ends(hints);
  const Hint& main = hints.front();
  const Tracer tracer(f, main, options);
  // A first look at the whole mass, so that panels know what share they must resolve.
  TraceOptions rough = options;
  rough.depth = 0;
  Curve sketch;
  double whole = 0;
  for (std::size_t i = 0; i + 1 < ends.size(); ++i)
    whole += Tracer(f, main, rough).panel(ends[i], ends[i + 1], kInfinity, 0, sketch);
  Curve curve;
  for (std::size_t i = 0; i + 1 < ends.size(); ++i)
    curve.mass += tracer.panel(ends[i], ends[i + 1], whole, 0, curve);
  if (!(curve.mass > 0)) {
    curve.proper = false;
    return curve;
  }
  curve.error /= curve.mass;
  // The tails, each side for itself: mass of decade after decade.
  for (const int side : {-1, 1}) {
    double before = 0, last = 0, reach = 40 * main.scale;
    for (int k = 0; k < kDecades; ++k, reach *= 10) {
      Curve ignored;
      const double a = main.centre + side * reach, b = main.centre + side * 10 * reach;
      before = last;
      last = Tracer(f, main, rough).panel(std::min(a, b), std::max(a, b), kInfinity, 0, ignored);
      if (last < kNothing * curve.mass) break;
    }
    if (last > kEndless * before && last >= kNothing * curve.mass) curve.proper = false;
    curve.tail = std::max(curve.tail, last / curve.mass);
  }
  return curve;
}

}  // namespace dma
