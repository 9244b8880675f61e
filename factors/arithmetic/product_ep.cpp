#include "factors/arithmetic/product_ep.h"

#include <algorithm>

#include "factors/authoring/peaks.h"

namespace dma {

namespace {

// The marginal of x in s = x / c, c^2 = vz / vy: with k = c^2 / vx, m = mx / c, e = my / sd_y and f = mz / sd_z,
//
//   log w = -k (s - m)^2 / 2 - r^2 / 2 - log C,    r = (f - e s) / C,    C^2 = 1 + s^2.
//
// It is integrated in t = asinh(s), where dx/dt = c C cancels the last term and r varies on the scale 1 or 1 / |e|. The
// peaks are roots of a polynomial: C^3 times the slope is -k (s - m) C^4 + (f - e s) (f s + e). s and r are stored as
// differences from the highest peak: however sharp it is, no digits cancel.
class ProductMarginal {
 public:
  ProductMarginal(const Gaussian& x, const Gaussian& y, const Gaussian& z)
      : unit_(std::sqrt(y.rho / z.rho)),
        k_(x.rho * y.rho / z.rho),
        m_(x.mean() / unit_),
        e_(y.tau / std::sqrt(y.rho)),
        f_(z.tau / std::sqrt(z.rho)) {
    const double both = e_ * f_, centre = k_ * m_;
    const double slope[] = {centre + both, f_ * f_ - e_ * e_ - k_, 2 * centre - both, -2 * k_, centre, -k_};
    // |(f - e s) (f s + e)| <= (e^2 + f^2) C^2: beyond `reach`, the slope has the sign of m - s.
    const double reach = 2 * std::abs(m_) + std::cbrt((e_ * e_ + f_ * f_) / k_) + 1;
    const Tops tops = falling_roots(slope, -reach, reach);
    if (tops.empty()) return;
    move_to(*std::ranges::max_element(tops, {}, [&](double s) { return log_height(s); }));
    const auto weight = [this](double t) { return at(t).log_weight; };
    const LogFactor log_weight(weight);
    Peaks peaks;
    for (const double s : tops) peaks.push_back(peak_at(log_weight, s == top_ ? 0 : std::asinh(s) - t_));
    keep_visible(peaks);
    PeakedIntegral integral(log_weight, peaks);
    double mass = 0, second = 0, pull_square = 0;
    integral.for_each_node([&](double t, double fraction) {
      const Point p = at(t);
      const double pull = p.pull - pull_;
      mass += fraction;
      step_ += fraction * p.step;
      second += fraction * p.step * p.step;
      mean_pull_ += fraction * pull;
      pull_square += fraction * pull * pull;
      lost_ += fraction * p.lost;
      kept_ += fraction * p.kept;
    });
    for (double* sum : {&step_, &second, &mean_pull_, &pull_square, &lost_, &kept_}) *sum /= mass;
    variance_ = second - step_ * step_;
    const double between = pull_square - mean_pull_ * mean_pull_;
    lost_ -= between;
    kept_ += between;
    mean_pull_ += pull_;
  }

  // The quotients of the marginals and the arriving messages; NaN if the marginal has no mass.
  Gaussian to_x(const Gaussian& x) const {
    const double variance = unit_ * unit_ * variance_, rho = 1 / variance - x.rho;
    const double mean = unit_ * (top_ + step_), moved = unit_ * (top_ - m_ + step_);
    // Subtract the smaller numbers.
    return {std::abs(mean) < std::abs(moved) ? mean / variance - x.tau : x.mean() * rho + moved / variance, rho};
  }
  // Given x, z = mz - sd_z r / C with variance vz (1 - 1 / C^2).
  Gaussian to_z(const Gaussian& z) const {
    const double rho = z.rho * lost_ / kept_;
    return {z.mean() * rho - std::sqrt(z.rho) * mean_pull_ / kept_, rho};
  }

 private:
  struct Point {
    double step, pull, lost, kept;  // s - peak, r / C, 1 / C^2, s^2 / C^2
    double log_weight;              // log (w C) minus its value at the peak
  };

  double log_height(double s) const {
    const double r = (f_ - e_ * s) / std::sqrt(1 + s * s);
    return -0.5 * (k_ * (s - m_) * (s - m_) + r * r);
  }
  void move_to(double s) {
    top_ = s;
    t_ = std::asinh(s);
    cosh_ = std::sqrt(1 + s * s);
    miss_ = f_ - e_ * s;
    pull_ = miss_ / cosh_ / cosh_;
  }
  Point at(double t) const {
    constexpr double kNear = 0.5;
    const double half = std::sinh(0.5 * t);
    const double step = std::abs(t) < kNear ? 2 * half * (top_ * half + cosh_ * std::sqrt(1 + half * half))
                                            : std::sinh(t_ + t) - top_;
    const double s = std::abs(t) < kNear ? top_ + step : std::sinh(t_ + t);
    const double square = 1 + s * s, c = std::sqrt(square), r = (miss_ - e_ * step) / c, r_top = miss_ / cosh_;
    const double log_weight = -k_ * step * (top_ - m_ + 0.5 * step) - 0.5 * (r - r_top) * (r + r_top);
    return {step, r / c, 1 / square, s * s / square, log_weight};
  }

  double unit_, k_, m_, e_, f_;
  double top_ = 0, t_ = 0, cosh_ = 1, miss_ = 0, pull_ = 0;  // s, t, C, f - e s, r / C at the highest peak
  double step_ = 0, variance_ = std::nan("");                // mean of s - peak, variance of s
  double mean_pull_ = 0, lost_ = 0, kept_ = 0;               // mean of r / C; 1 - kept and kept = Var[z] / vz
};

}  // namespace

Gaussian ProductEp::to_z(const Gaussian& x, const Gaussian& y, const Gaussian& z) {
  if (!x.is_proper() || !y.is_proper() || !z.is_proper()) return Product::to_z(x, y);
  return ProductMarginal(x, y, z).to_z(z);
}

Gaussian ProductEp::to_factor(const Gaussian& own, const Gaussian& other, const Gaussian& z) {
  if (!own.is_proper() || !other.is_proper() || !z.is_proper()) return Product::to_factor(other, z);
  return ProductMarginal(own, other, z).to_x(own);
}

}  // namespace dma
