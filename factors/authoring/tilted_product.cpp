#include "factors/authoring/tilted_product.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <array>
#include <bitset>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <optional>
#include <span>

namespace dma {

namespace {

using Vector = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, kMostFree, 1>;
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, kMostFree, kMostFree>;

struct Mode {
  Vector at;
  double height;
  Matrix root;  // t = at + root z, z ~ N(0, I) to second order
  double distance(const Vector& t) const { return root.triangularView<Eigen::Upper>().solve(t - at).norm(); }
};
struct Modes {
  std::span<const Mode> all() const { return {both.data(), size}; }
  std::array<Mode, 2> both = {};
  std::size_t size = 0;
};

class Density {
 public:
  Density(const LogFactorOfSeveral& f, std::size_t count) : f_(f), count_(static_cast<Eigen::Index>(count)) {}
  std::size_t count() const { return static_cast<std::size_t>(count_); }
  double operator()(const Vector& t) const {
    const double log = f_(t.data()) - 0.5 * t.squaredNorm();
    return std::isnan(log) ? -kInfinity : log;
  }

  // Newton's method on differences, damped where the density is not concave. Returns nothing if it does not reach a
  // strict maximum.
  std::optional<Mode> mode(Vector t) const {
    constexpr int kSteps = 40;
    constexpr double kArrived = 1e-4, kFirstDamping = 0.1;
    double height = (*this)(t), step = 0.02;
    if (!std::isfinite(height)) return {};
    for (int i = 0; i < kSteps; ++i) {
      Vector gradient;
      Matrix information;
      differentiate(t, height, step, gradient, information);
      if (!gradient.allFinite() || !information.allFinite()) return {};
      Eigen::LLT<Matrix> factor(information);
      double damping = 0;
      while (factor.info() != Eigen::Success) {
        damping = std::max(4 * damping, kFirstDamping);
        factor.compute(information + damping * Matrix::Identity(count_, count_));
      }
      const Vector move = factor.solve(gradient);
      const double gain = gradient.dot(move);
      if (!std::isfinite(gain)) return {};
      if (gain < kArrived) {
        if (damping > 0) return {};
        Matrix root = Matrix::Identity(count_, count_);
        factor.matrixU().solveInPlace(root);
        return Mode{t, height, root};
      }
      double fraction = 2, next_height;
      Vector next;
      do {
        next = t + (fraction *= 0.5) * move;
        next_height = (*this)(next);
      } while (!(next_height > height) && fraction > 1e-6);
      if (!(next_height > height)) return {};
      t = next;
      height = next_height;
      step = std::clamp(0.02 / std::sqrt(information.diagonal().cwiseAbs().maxCoeff()), 1e-6, 0.02);
    }
    return {};
  }

 private:
  void differentiate(const Vector& t, double height, double step, Vector& gradient, Matrix& information) const {
    gradient.resize(count_);
    information.resize(count_, count_);
    const auto at = [&](Eigen::Index i, double a, Eigen::Index j, double b) {
      Vector moved = t;
      moved(i) += a * step;
      if (j >= 0) moved(j) += b * step;
      return (*this)(moved);
    };
    for (Eigen::Index i = 0; i < count_; ++i) {
      const double up = at(i, 1, -1, 0), down = at(i, -1, -1, 0);
      gradient(i) = (up - down) / (2 * step);
      information(i, i) = -(up - 2 * height + down) / (step * step);
      for (Eigen::Index j = 0; j < i; ++j)
        information(i, j) = information(j, i) =
            -(at(i, 1, j, 1) - at(i, 1, j, -1) - at(i, -1, j, 1) + at(i, -1, j, -1)) / (4 * step * step);
    }
  }

  const LogFactorOfSeveral& f_;
  Eigen::Index count_;
};

// The trapezoidal rule on a lattice around each mode, over all connected points that are not negligible. Every second
// point, in all directions, is a lattice too: the difference of the two results estimates the error.
class Lattice {
 public:
  Lattice(const Density& density, const Modes& modes, double step)
      : density_(density), modes_(modes.all()), step_(step) {
    for (std::size_t m = 0; m < modes.size && is_whole_; ++m)
      if (!reached_[m]) flood(m);
  }
  // False if there were too many points, or they led from one mode into points already counted for another.
  bool is_whole() const { return is_whole_; }

  // By all points, or by every second one.
  std::optional<Tilted> moments(bool is_coarse) const {
    const Sums& s = sums_[is_coarse];
    const double off = s.first / s.mass, variance = s.second / s.mass - off * off;
    if (!(variance > 0)) return {};
    const double mean = modes_[0].at(0) + off, count = static_cast<double>(density_.count());
    return Tilted{.found = true,
                  .log_mass = modes_[0].height + std::log(s.mass) + count * (is_coarse ? std::log(2.0) : 0) -
                              0.5 * count * std::log(2 * std::numbers::pi),
                  .mean = mean,
                  .tau = mean / variance,
                  .rho = (1 - variance) / variance};
  }

 private:
  static constexpr double kNegligible = 24;          // nats below the maximum
  static constexpr std::uint32_t kPlaces = 1 << 21;  // a square of 1024 or a cube of 128 per side
  static constexpr std::size_t kMostOpen = 1 << 16;
  struct Sums {
    double mass = 0, first = 0, second = 0;
  };

  // A lattice point is one number, whose digits in base `side` are its coordinates; the mode is at the centre.
  void flood(std::size_t m) {
    const Mode& mode = modes_[m];
    const std::uint32_t bits = density_.count() == 2 ? 10 : 7, side = 1u << bits;
    double volume = 1;
    for (Eigen::Index i = 0; i < mode.at.size(); ++i) volume *= std::abs(mode.root(i, i)) * step_;
    std::bitset<kPlaces> seen;
    std::array<std::uint32_t, kMostOpen> open;
    std::size_t first = 0, end = 0;
    const auto look_at = [&](std::uint32_t place) {
      seen.set(place);
      Vector z(mode.at.size());
      bool is_even = true;
      for (Eigen::Index i = 0; i < z.size(); ++i) {
        const int index = static_cast<int>(place >> bits * static_cast<std::uint32_t>(i) & (side - 1)) -
                          static_cast<int>(side / 2);
        z[i] = step_ * index;
        is_even &= index % 2 == 0;
      }
      const Vector t = mode.at + mode.root * z;
      const double height = density_(t) - modes_[0].height, weight = volume * std::exp(height);
      const double off = t[0] - modes_[0].at[0];
      for (std::size_t coarse = 0; coarse <= (is_even ? 1 : 0); ++coarse) {
        Sums& s = sums_[coarse];
        s.mass += weight;
        s.first += weight * off;
        s.second += weight * off * off;
      }
      if (height < -kNegligible) return;
      for (std::size_t other = 0; other < modes_.size(); ++other)
        if (other != m && modes_[other].distance(t) < 2 * step_) reached_[other] = true;
      open[end++ % kMostOpen] = place;
    };
    std::uint32_t middle = 0;
    for (std::size_t i = 0; i < density_.count(); ++i) middle = middle << bits | side / 2;
    for (look_at(middle); first < end && is_whole_;) {
      const std::uint32_t place = open[first++ % kMostOpen];
      for (std::uint32_t i = 0; i < density_.count(); ++i) {
        const std::uint32_t index = place >> bits * i & (side - 1), one = 1u << bits * i;
        is_whole_ &= index > 0 && index + 1 < side && end - first + 2 < kMostOpen;
        if (!is_whole_) return;
        for (const std::uint32_t next : {place + one, place - one})
          if (!seen[next]) look_at(next);
      }
    }
    is_whole_ &= m == 0 || !reached_[0];
  }

  const Density& density_;
  std::span<const Mode> modes_;
  double step_;
  bool is_whole_ = true;
  std::array<bool, 2> reached_ = {};
  std::array<Sums, 2> sums_;
};

// The rule with half the step has at most the square of that relative error.
bool agree(const Tilted& a, const Tilted& b, double tolerance) {
  const double precision = 1 + a.rho;
  return std::abs(a.mean - b.mean) * std::sqrt(precision) < tolerance &&
         std::abs(a.rho - b.rho) < tolerance * precision && std::abs(a.log_mass - b.log_mass) < tolerance;
}

// Nested integrals. Beyond this many evaluations (half a second) it gives up: a counted fault.
class Nested {
 public:
  Nested(const LogFactorOfSeveral& f, std::size_t count, const std::span<const double>* hints, double tolerance)
      : f_(f), count_(count), hints_(hints), tolerance_(tolerance) {}

  // log of the integral over t_2, ..., t_k.
  double operator()(double first) {
    t_[0] = first;
    return log_of_rest(1);
  }
  bool is_spent() const { return evaluations_ > kMostEvaluations; }

 private:
  static constexpr std::int64_t kMostEvaluations = 20'000'000;

  double log_of_rest(std::size_t level) {
    if (is_spent()) return -kInfinity;
    if (level == count_) {
      ++evaluations_;
      return f_(t_.data());
    }
    const auto along = [&](double value) {
      t_[level] = value;
      return log_of_rest(level + 1);
    };
    const Tilted inner = tilt(along, hints_[level], tolerance_);
    return inner.found ? inner.log_mass : -kInfinity;
  }

  const LogFactorOfSeveral& f_;
  std::size_t count_;
  const std::span<const double>* hints_;
  double tolerance_;
  std::array<double, kMostFree> t_{};
  std::int64_t evaluations_ = 0;
};

// The mode reached from the centre of the arriving messages, and a different one if a search from a corner finds it.
Modes modes_of(const Density& density) {
  constexpr double kCorner = 1.5, kApart = 1, kTooLow = 30;
  const auto count = static_cast<Eigen::Index>(density.count());
  Modes modes;
  for (int corner = -1; corner < 1 << count; ++corner) {
    Vector start = Vector::Zero(count);
    for (Eigen::Index i = 0; corner >= 0 && i < count; ++i) start[i] = corner >> i & 1 ? kCorner : -kCorner;
    const auto found = density.mode(start);
    if (!found) continue;
    const auto is_it = [&](const Mode& known) { return known.distance(found->at) < kApart; };
    if (std::ranges::any_of(modes.all(), is_it)) continue;
    if (modes.size == 2) return {};  // a third mode
    modes.both[modes.size++] = *found;
  }
  if (modes.size == 2) {
    if (modes.both[1].height > modes.both[0].height) std::swap(modes.both[0], modes.both[1]);
    if (modes.both[1].height < modes.both[0].height - kTooLow) modes.size = 1;
  }
  return modes;
}

// True if log f is a parabola along t_j: over the whole width of its message, at several values of the others.
bool is_quadratic(const LogFactorOfSeveral& f, std::size_t j) {
  constexpr double kFit = 4, kChecks[] = {-8, -1.7, 0.3, 1.3, 8}, kTolerance = 1e-10;
  constexpr std::array<double, kMostFree> kPlaces[] = {{0, 0, 0}, {1.1, -1.7, 0.6}, {-2.3, 0.9, -1.4}};
  for (std::array<double, kMostFree> t : kPlaces) {
    const auto along = [&](double x) { return t[j] = x, f(t.data()); };
    const double low = along(-kFit), middle = along(0), high = along(kFit);
    const double slope = (high - low) / (2 * kFit), bend = (high - 2 * middle + low) / (2 * kFit * kFit);
    const double rounding = 1e-14 * std::abs(middle);
    for (const double look : kChecks) {
      const double change = look * (slope + look * bend), size = std::abs(look * slope) + std::abs(look * look * bend);
      if (!(std::abs(along(look) - middle - change) <= kTolerance * size + rounding)) return false;
    }
  }
  return true;
}

// log of the integral of phi(t) exp(f(t)) for a parabola f: from three points at its peak, one width apart.
template <class F>
double log_integral_of_parabola(const F& f) {
  constexpr double kNear = 100;
  constexpr int kLast = 6;
  double at = 0, width = 1;
  for (int pass = 0;; ++pass) {
    const double low = f(at - width), middle = f(at), high = f(at + width);
    const double slope = 0.5 * (high - low) - at * width, bend = 2 * middle - low - high + width * width;
    if (!(bend > 0) || pass == kLast) break;
    if (bend < kNear && slope * slope < kNear * bend)
      return middle - 0.5 * at * at + 0.5 * slope * slope / bend - 0.5 * std::log(bend) + std::log(width);
    at += width * slope / bend;
    width /= std::sqrt(bend);
  }
  return std::nan("");  // rounding hides the curvature
}

// The result with t_j integrated out.
Tilted tilt_without(std::size_t j, const LogFactorOfSeveral& log_f, std::size_t count,
                    const std::span<const double>* hints) {
  std::array<std::span<const double>, kMostFree> others;
  for (std::size_t i = 0, next = 0; i < count; ++i)
    if (i != j) others[next++] = hints[i];
  const auto f = [&](const double* t) {
    std::array<double, kMostFree> all;
    for (std::size_t i = 0, next = 0; i < count; ++i)
      if (i != j) all[i] = t[next++];
    return log_integral_of_parabola([&](double x) {
      all[j] = x;
      return log_f(all.data());
    });
  };
  return count == 2 ? tilt([&](double t) { return f(&t); }, others[0]) : tilt_first(f, count - 1, others.data());
}

}  // namespace

Tilted tilt_first(const LogFactorOfSeveral& log_f, std::size_t count, const std::span<const double>* hints) {
  for (std::size_t j = 1; j < count; ++j)
    if (is_quadratic(log_f, j)) return tilt_without(j, log_f, count, hints);
  if (const auto weak = weak_tilt(log_f, count)) return *weak;
  const Density density(log_f, count);
  const double agreed = count == 2 ? 1e-4 : 1e-3;
  double step = count == 2 ? 0.6 : 0.75;
  const Modes modes = modes_of(density);
  for (std::size_t attempt = count; attempt < 5 && modes.size > 0; ++attempt, step *= 0.5) {
    const Lattice lattice(density, modes, step);
    if (!lattice.is_whole()) break;
    const auto fine = lattice.moments(false), coarse = lattice.moments(true);
    if (fine && coarse && agree(*fine, *coarse, agreed)) return *fine;
  }
  const double tolerance = count == 2 ? 1e-7 : 1e-5;
  Nested nested(log_f, count, hints, 0.01 * tolerance);
  const Tilted tilted = tilt([&](double t) { return nested(t); }, hints[0], tolerance);
  return nested.is_spent() ? Tilted{} : tilted;
}

}  // namespace dma
