#include "factors/arithmetic/product_ep.h"

#include <algorithm>
#include <array>

#include "engine/support/whole_number.h"

namespace dma {

namespace {

constexpr int kMostPoints = 4096;
// The window reaches this many standard deviations of x's message to each side: what is cut off is below 1e-15.
constexpr double kReach = 9;
// Points per length scale. The trapezoid rule's error on a Gaussian of standard deviation s is exp(-2 (pi s / step)^2).
constexpr double kPointsPerScale = 4;
constexpr int kMostZooms = 60;

struct Averaged {
  double mean, variance;
};

// w(x) on points x = c sinh(t), t evenly spaced, c^2 = vz / vy. The variance vz + x^2 vy = vz cosh(t)^2 then varies on
// the scale 1 in t; the location of the likelihood on the scale sd_y / |my|; x's own message on that of its standard
// deviation.
class Weight {
 public:
  Weight(const Gaussian& x, const Gaussian& y, const Gaussian& z)
      : mx_(x.mean()),
        rx_(x.rho),
        my_(y.mean()),
        vy_(y.variance()),
        mz_(z.mean()),
        vz_(z.variance()),
        c_(std::sqrt(vz_ / vy_)) {
    const double smallest_scale = std::min(1.0, std::sqrt(y.rho) / (std::abs(y.tau) + std::sqrt(y.rho)));
    double low = std::asinh((mx_ - kReach * x.sd()) / c_), high = std::asinh((mx_ + kReach * x.sd()) / c_);
    for (int zoom = 0; zoom < kMostZooms; ++zoom) {
      fill(low, high, smallest_scale);
      double mean = 0, spread = 0;
      for (std::size_t i = 0; i < count_; ++i) mean += weight_[i] * t(i);
      for (std::size_t i = 0; i < count_; ++i) spread += weight_[i] * (t(i) - mean) * (t(i) - mean);
      const double sd = std::sqrt(spread);
      if (sd >= kPointsPerScale * step_ || step_ == 0) break;
      // Narrower than the grid sees: look closer, where the weight is.
      const double half = std::max(kReach * sd, 4 * step_);
      low = mean - half;
      high = mean + half;
    }
  }

  // Mean and variance of a quantity with these moments given x.
  template <class Given>
  Averaged average(const Given& given) const {
    double mean = 0, spread = 0;
    for (std::size_t i = 0; i < count_; ++i) mean += weight_[i] * given(point(i)).mean;
    for (std::size_t i = 0; i < count_; ++i) {
      const Averaged m = given(point(i));
      spread += weight_[i] * (m.variance + (m.mean - mean) * (m.mean - mean));
    }
    return {mean, spread};
  }

 private:
  double t(std::size_t i) const { return first_ + static_cast<double>(i) * step_; }
  double point(std::size_t i) const { return c_ * std::sinh(t(i)); }

  // log of w(x) dx/dt; the variance under the root and dx/dt = c cosh t cancel but for constants.
  double log_weight(double x) const {
    const double off = mz_ - x * my_;
    return -0.5 * ((x - mx_) * (x - mx_) * rx_ + off * off / (vz_ + x * x * vy_));
  }
  void fill(double low, double high, double smallest_scale) {
    const double wanted = kPointsPerScale * (high - low) / smallest_scale;
    count_ = whole_number<std::size_t>(wanted, 257, kMostPoints);
    first_ = low;
    step_ = (high - low) / static_cast<double>(count_ - 1);
    double largest = -kInfinity, sum = 0;
    for (std::size_t i = 0; i < count_; ++i) largest = std::max(largest, weight_[i] = log_weight(point(i)));
    for (std::size_t i = 0; i < count_; ++i) sum += weight_[i] = std::exp(weight_[i] - largest);
    for (std::size_t i = 0; i < count_; ++i) weight_[i] /= sum;
  }

  double mx_, rx_, my_, vy_, mz_, vz_, c_;
  double first_ = 0, step_ = 0;
  std::size_t count_ = 0;
  std::array<double, kMostPoints> weight_;
};

Gaussian quotient(const Averaged& marginal, const Gaussian& arrived) {
  return {marginal.mean / marginal.variance - arrived.tau, 1 / marginal.variance - arrived.rho};
}

}  // namespace

Gaussian ProductEp::to_z(const Gaussian& x, const Gaussian& y, const Gaussian& z) {
  if (!x.is_proper() || !y.is_proper() || !z.is_proper()) return Product::to_z(x, y);
  const Weight weight(x, y, z);
  const double my = y.mean(), vy = y.variance(), mz = z.mean(), vz = z.variance();
  const Averaged marginal = weight.average([&](double at) {
    const double v = at * at * vy, share = v / (v + vz);  // of z's own message
    return Averaged{at * my + share * (mz - at * my), share * vz};
  });
  return quotient(marginal, z);
}

Gaussian ProductEp::to_factor(const Gaussian& own, const Gaussian& other, const Gaussian& z) {
  if (!own.is_proper() || !other.is_proper() || !z.is_proper()) return Product::to_factor(other, z);
  return quotient(Weight(own, other, z).average([](double at) { return Averaged{at, 0}; }), own);
}

}  // namespace dma
