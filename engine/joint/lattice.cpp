#include "engine/joint/lattice.h"

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <vector>

#include "engine/support/dense.h"
#include "engine/support/special_functions.h"

namespace dma::joint_system {

namespace {

constexpr double kDifference = 0.05;  // step of differences on the logarithmic scale
constexpr int kMostClimbs = 100;
constexpr double kFarAway = 40;  // distance from the start at which a number has diverged: e^40
constexpr double kNothingToGain = 1e-4;
constexpr std::size_t kMostPoints = 20000;
constexpr double kStretch = 0.3;  // a in z = sinh(a u) / a
// Largest difference of the sums over even and over odd integers, relative to the whole. The error of the whole is far
// smaller: about the square of it.
constexpr double kApart = 0.2;
// Cloud: number of pairs of draws, and width relative to the Gaussian at the mode. In ten dimensions a Gaussian keeps
// 60 % of the draws effective.
constexpr int kPairs = 2500;
constexpr double kWider = 1.2;

struct Quadratic {
  Eigen::VectorXd gradient;
  Eigen::MatrixXd information;  // minus the second derivatives
};

Quadratic differences(const LogDensityOfFew& f, const Eigen::VectorXd& at, double height) {
  const Eigen::Index n = at.size();
  const double h = kDifference;
  Quadratic q{Eigen::VectorXd(n), Eigen::MatrixXd(n, n)};
  Eigen::VectorXd above(n), below(n);
  const auto moved = [&](Eigen::Index i, Eigen::Index j, double by) {
    Eigen::VectorXd x = at;
    x[i] += by;
    if (j >= 0) x[j] += by;
    return f(x);
  };
  for (Eigen::Index i = 0; i < n; ++i) {
    above[i] = moved(i, -1, h);
    below[i] = moved(i, -1, -h);
    q.gradient[i] = (above[i] - below[i]) / (2 * h);
    q.information(i, i) = (2 * height - above[i] - below[i]) / (h * h);
  }
  for (Eigen::Index i = 0; i < n; ++i)
    for (Eigen::Index j = 0; j < i; ++j)
      q.information(i, j) = q.information(j, i) =
          -(moved(i, j, h) + moved(i, j, -h) - above[i] - above[j] - below[i] - below[j] + 2 * height) / (2 * h * h);
  return q;
}

// The step of largest gain in the quadratic model, no longer than the radius.
Eigen::VectorXd best_step(const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>& information,
                          const Eigen::VectorXd& gradient, double radius) {
  const Eigen::VectorXd& a = information.eigenvalues();
  const Eigen::VectorXd along = transposed_times(information.eigenvectors(), gradient);
  const auto step = [&](double shift) -> Eigen::VectorXd { return (along.array() / (a.array() + shift)).matrix(); };
  double low = 0;
  if (a[0] <= 0) low = -a[0] + 1e-12 + 1e-9 * a.cwiseAbs().maxCoeff();
  if (step(low).norm() > radius) {
    double high = low + along.norm() / radius;  // a + shift >= |along| / radius keeps the step within the radius
    for (int i = 0; i < 100; ++i) {
      const double middle = 0.5 * (low + high);
      (step(middle).norm() > radius ? low : high) = middle;
    }
    low = high;
  }
  return times(information.eigenvectors(), step(low));
}

}  // namespace

Mode find_mode(const LogDensityOfFew& f, Eigen::VectorXd start) {
  Mode mode{.at = start, .axes = {}};
  double height = f(mode.at), radius = 1;
  if (!std::isfinite(height)) return mode;
  Quadratic q = differences(f, mode.at, height);
  for (int i = 0; i < kMostClimbs; ++i) {
    if (!q.gradient.allFinite() || !q.information.allFinite()) return mode;
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> information(q.information);
    const Eigen::VectorXd step = best_step(information, q.gradient, radius);
    const double promised = q.gradient.dot(step) - 0.5 * step.dot(times(q.information, step));
    const bool is_peak = information.eigenvalues()[0] > 0;
    if (promised < kNothingToGain && is_peak) {
      mode.axes = scaled_columns(information.eigenvectors(), information.eigenvalues().cwiseSqrt().cwiseInverse());
      mode.is_found = true;
      return mode;
    }
    const Eigen::VectorXd next = mode.at + step;
    const double found = f(next), ratio = (found - height) / promised;
    if (!(ratio > 0.1)) {
      radius = 0.25 * step.norm();
      if (radius < 1e-9) return mode;
      continue;
    }
    if (ratio > 0.75 && step.norm() > 0.99 * radius) radius = std::min(2 * radius, 8.0);
    mode.at = next;
    height = found;
    if (Eigen::Index far = 0; (mode.at - start).cwiseAbs().maxCoeff(&far) > kFarAway) {
      mode.open = far;
      return mode;
    }
    q = differences(f, mode.at, height);
  }
  return mode;
}

namespace {

// Draw k has the coordinates frac(1/2 + k / g^i), g^(n + 1) = g + 1: evenly spread, by the generalised golden ratio.
// Each draw is paired with its mirror image.
void visit_cloud(const Mode& mode, const VisitPoint& visit) {
  const Eigen::Index n = mode.at.size();
  double g = 2;
  for (int i = 0; i < 60; ++i) g = std::pow(1 + g, 1 / static_cast<double>(n + 1));
  Eigen::VectorXd z(n);
  for (int k = 1; k <= kPairs; ++k) {
    for (Eigen::Index i = 0; i < n; ++i) {
      double whole;
      const double part = std::modf(0.5 + k * std::pow(g, -static_cast<double>(i + 1)), &whole);
      z[i] = normal_quantile(part);
    }
    for (const double by : {kWider, -kWider}) visit(mode.at + times(mode.axes, z, by), 0.5 * z.squaredNorm());
  }
}

}  // namespace

LatticeSize lattice_size(Eigen::Index dimensions) {
  constexpr LatticeSize kSizes[kMostOnLattice] = {{0.7, 13}, {0.8, 10}, {1.1, 9}, {1.3, 7.5}, {1.4, 7.5}, {1.5, 7}};
  // Kernel width for quantiles of a cloud.
  return dimensions > kMostOnLattice ? LatticeSize{0.5, 0} : kSizes[dimensions - 1];
}

double log_cell(const Mode& mode) {
  const auto n = static_cast<double>(mode.at.size());
  const double log_axes = std::log(std::abs(mode.axes.determinant()));
  if (mode.at.size() <= kMostOnLattice)
    return n * std::log(std::numbers::sqrt2 * lattice_size(mode.at.size()).step) - std::log(2.0) + log_axes;
  return n * (std::log(kWider) + 0.5 * std::log(2 * std::numbers::pi)) + log_axes - std::log(2.0 * kPairs);
}

bool visit_points(const Mode& mode, const VisitPoint& visit) {
  if (mode.at.size() > kMostOnLattice) return visit_cloud(mode, visit), true;
  using Place = std::vector<int>;
  const auto n = static_cast<std::size_t>(mode.at.size());
  const LatticeSize size = lattice_size(mode.at.size());
  std::map<Place, double> heights;  // with the logarithm of the stretch
  std::vector<Place> open;
  double highest = -std::numeric_limits<double>::infinity();
  const auto look_at = [&](const Place& place) {
    Eigen::VectorXd z(mode.at.size());
    double log_stretch = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const double u = kStretch * size.step / std::numbers::sqrt2 * place[i];
      z[static_cast<Eigen::Index>(i)] = std::sinh(u) / kStretch;
      log_stretch += std::log(std::cosh(u));
    }
    const double height = visit(mode.at + times(mode.axes, z), log_stretch) + log_stretch;
    highest = std::max(highest, height);
    heights.emplace(place, height);
    open.push_back(place);
  };
  for (const int first : {0, 1}) {
    look_at(Place(n, first));
    while (!open.empty()) {
      const Place place = std::move(open.back());
      open.pop_back();
      const double height = heights.at(place);
      if (!(height > highest - size.drop)) continue;
      for (std::size_t i = 0; i < n; ++i)
        for (const int by : {2, -2}) {
          Place next = place, before = place;
          next[i] += by;
          before[i] -= by;
          if (heights.contains(next)) continue;
          const auto known = heights.find(before);
          if (known != heights.end() && 2 * height - known->second < highest - size.drop) continue;
          if (heights.size() == kMostPoints) return false;
          look_at(next);
        }
    }
  }
  double whole = 0, apart = 0;
  for (const auto& [place, height] : heights) {
    const double mass = std::exp(height - highest);
    whole += mass;
    apart += place[0] % 2 == 0 ? mass : -mass;
  }
  return std::abs(apart) < kApart * whole;
}

}  // namespace dma::joint_system
