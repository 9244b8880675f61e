#include "factors/authoring/tilted_product.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>

#include "factors/authoring/gauss_hermite.h"

namespace dma {

namespace {

using Vector = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, kMostFree, 1>;
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, kMostFree, kMostFree>;

struct Mode {
  Vector at;
  double height;
  Matrix root;  // t = at + root z, z ~ N(0, I) to the second order
};

class Density {
 public:
  Density(const LogFactorOfSeveral& f, std::size_t count) : f_(f), count_(static_cast<Eigen::Index>(count)) {}
  double operator()(const Vector& t) const { return f_(t.data()) - 0.5 * t.squaredNorm(); }

  // Newton's method on differences. Nothing where it does not arrive at a strict maximum.
  std::optional<Mode> mode() const {
    constexpr int kSteps = 40;
    constexpr double kArrived = 1e-4;
    Vector t = Vector::Zero(count_);
    double height = (*this)(t), step = 0.02;
    if (!std::isfinite(height)) return {};
    for (int i = 0; i < kSteps; ++i) {
      Vector gradient;
      Matrix information;
      differentiate(t, height, step, gradient, information);
      Eigen::LLT<Matrix> factor(information);
      if (factor.info() != Eigen::Success || !gradient.allFinite()) return {};
      const Vector move = factor.solve(gradient);
      const double gain = gradient.dot(move);
      if (!std::isfinite(gain)) return {};
      if (gain < kArrived) {
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
      t = next, height = next_height;
      step = std::clamp(0.02 / std::sqrt(information.diagonal().maxCoeff()), 1e-6, 0.02);
    }
    return {};
  }

  // Mass, mean and variance of t_1. Nothing where the tails outweigh the rule's.
  std::optional<Tilted> moments(const Mode& mode, const GaussHermite& rule) const {
    constexpr double kHeavy = 30;
    double mass = 0, first = 0, second = 0;
    bool is_heavy = false;
    for_each_node<kMostFree>(rule, static_cast<std::size_t>(count_), [&](const double* z, double weight) {
      const Eigen::Map<const Vector> standard(z, count_);
      const Vector offset = mode.root * standard;
      double log = (*this)(mode.at + offset) - mode.height + 0.5 * standard.squaredNorm();
      if (std::isnan(log)) log = -kInfinity;
      is_heavy |= log > kHeavy;
      const double fraction = weight * std::exp(log);
      mass += fraction, first += fraction * offset(0), second += fraction * offset(0) * offset(0);
    });
    const double off = first / mass, variance = second / mass - off * off;
    if (is_heavy || !(mass > 0) || !(variance > 0)) return {};
    const double mean = mode.at(0) + off;
    double log_volume = 0;
    for (Eigen::Index i = 0; i < count_; ++i) log_volume += std::log(std::abs(mode.root(i, i)));
    return Tilted{.found = true,
                  .log_mass = mode.height + std::log(mass) + log_volume,
                  .mean = mean,
                  .tau = mean / variance,
                  .rho = (1 - variance) / variance};
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

// The finer rule is then some ten times as good as that.
bool agree(const Tilted& a, const Tilted& b, double tolerance) {
  const double precision = 1 + a.rho;
  return std::abs(a.mean - b.mean) * std::sqrt(precision) < tolerance &&
         std::abs(a.rho - b.rho) < tolerance * precision && std::abs(a.log_mass - b.log_mass) < tolerance;
}

// One integral inside the other. What takes more evaluations than this (half a second's) is given up: a counted fault.
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

}  // namespace

Tilted tilt_first(const LogFactorOfSeveral& log_f, std::size_t count, const std::span<const double>* hints) {
  const Density density(log_f, count);
  if (const auto mode = density.mode()) {
    const auto fine = density.moments(*mode, GaussHermite::fine(count));
    const auto coarse = fine ? density.moments(*mode, GaussHermite::coarse(count)) : fine;
    if (fine && coarse && agree(*fine, *coarse, count == 2 ? 1e-4 : 1e-3)) return *fine;
  }
  const double tolerance = count == 2 ? 1e-7 : 1e-5;
  Nested nested(log_f, count, hints, 0.01 * tolerance);
  const Tilted tilted = tilt([&](double t) { return nested(t); }, hints[0], tolerance);
  return nested.is_spent() ? Tilted{} : tilted;
}

}  // namespace dma
