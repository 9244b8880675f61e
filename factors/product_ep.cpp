#include "factors/product_ep.h"

#include <array>

namespace dma {

namespace {

constexpr int kPoints = 401;
// The window reaches this many standard deviations to each side: what is cut off is below 1e-15 of a Gaussian.
constexpr double kReach = 9;
// A standard deviation must span this many points for the trapezoid rule to have all its digits.
constexpr double kPointsPerDeviation = 8;
constexpr int kLargestNumberOfZooms = 60;

struct Moments {
  double mean, variance;
};

// w(x) on an evenly spaced window that was zoomed until it resolves the weight.
class Weight {
 public:
  Weight(const Gaussian& x, const Gaussian& y, const Gaussian& z)
      : mx_(x.mean()), rx_(x.rho), my_(y.mean()), vy_(y.variance()), mz_(z.mean()), vz_(z.variance()) {
    double centre = mx_, half = kReach * x.sd();
    for (int zoom = 0; zoom < kLargestNumberOfZooms; ++zoom) {
      fill(centre, half);
      const Moments m = average([](double at) { return Moments{at, 0}; });
      const double sd = std::sqrt(m.variance), needed = kPointsPerDeviation * step_;
      if (sd >= needed) break;
      // Narrower than the grid sees: look closer, where the weight is.
      centre = m.mean;
      half = std::max(kReach * sd, 2 * step_);
    }
  }

  // Mean and variance of a quantity with these moments given x.
  template <class Given>
  Moments average(const Given& given) const {
    double mean = 0, spread = 0;
    for (int i = 0; i < kPoints; ++i) mean += weight_[at(i)] * given(point(i)).mean;
    for (int i = 0; i < kPoints; ++i) {
      const Moments m = given(point(i));
      spread += weight_[at(i)] * (m.variance + (m.mean - mean) * (m.mean - mean));
    }
    return {mean, spread};
  }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  double point(int i) const { return first_ + i * step_; }

  double log_weight(double x) const {
    const double s = vz_ + x * x * vy_, off = mz_ - x * my_;
    return -0.5 * ((x - mx_) * (x - mx_) * rx_ + std::log(s) + off * off / s);
  }
  void fill(double centre, double half) {
    first_ = centre - half;
    step_ = 2 * half / (kPoints - 1);
    double largest = -kInfinity, sum = 0;
    for (int i = 0; i < kPoints; ++i) largest = std::max(largest, weight_[at(i)] = log_weight(point(i)));
    for (double& w : weight_) sum += w = std::exp(w - largest);
    for (double& w : weight_) w /= sum;
  }

  double mx_, rx_, my_, vy_, mz_, vz_;
  double first_ = 0, step_ = 0;
  std::array<double, kPoints> weight_{};
};

Gaussian quotient(const Moments& marginal, const Gaussian& arrived) {
  return {marginal.mean / marginal.variance - arrived.tau, 1 / marginal.variance - arrived.rho};
}

}  // namespace

Gaussian ProductEp::to_z(const Gaussian& x, const Gaussian& y, const Gaussian& z) {
  if (!x.is_proper() || !y.is_proper() || !z.is_proper()) return Product::to_z(x, y);
  const Weight weight(x, y, z);
  const double my = y.mean(), vy = y.variance(), mz = z.mean(), vz = z.variance();
  const Moments marginal = weight.average([&](double at) {
    const double v = at * at * vy, share = v / (v + vz);  // of z's own message
    return Moments{at * my + share * (mz - at * my), share * vz};
  });
  return quotient(marginal, z);
}

Gaussian ProductEp::to_factor(const Gaussian& own, const Gaussian& other, const Gaussian& z) {
  if (!own.is_proper() || !other.is_proper() || !z.is_proper()) return Product::to_factor(other, z);
  return quotient(Weight(own, other, z).average([](double at) { return Moments{at, 0}; }), own);
}

}  // namespace dma
