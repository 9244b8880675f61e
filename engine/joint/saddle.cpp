// Leaves stationary points that are no minimum.
#include <algorithm>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <cmath>
#include <numeric>

#include "engine/joint/solver.h"

namespace dma::joint_system {

namespace {

constexpr int kMostGradients = 5;

// Leaves the eigenvalues of a symmetric matrix on its diagonal, and writes its eigenvectors as columns: by rotations
// (Jacobi), for a few numbers.
void find_eigenvectors(double (&a)[kMostGradients][kMostGradients], double (&v)[kMostGradients][kMostGradients],
                       int size) {
  constexpr int kSweeps = 30;
  constexpr double kNegligible = 1e-15;
  for (int i = 0; i < size; ++i)
    for (int j = 0; j < size; ++j) v[i][j] = i == j ? 1 : 0;
  for (int sweep = 0, turned = 1; sweep < kSweeps && turned > 0; ++sweep) {
    turned = 0;
    for (int p = 0; p < size; ++p)
      for (int q = p + 1; q < size; ++q) {
        if (!(std::abs(a[p][q]) > kNegligible * (std::abs(a[p][p]) + std::abs(a[q][q])))) continue;
        ++turned;
        const double half = 0.5 * (a[q][q] - a[p][p]) / a[p][q];
        const double t = std::copysign(1 / (std::abs(half) + std::hypot(1.0, half)), half);
        const double c = 1 / std::hypot(1.0, t), s = t * c;
        const auto turn = [&](double& x, double& y) {
          const double before = x;
          x = c * x - s * y;
          y = s * before + c * y;
        };
        for (int i = 0; i < size; ++i) turn(a[i][p], a[i][q]);
        for (int i = 0; i < size; ++i) {
          turn(a[p][i], a[q][i]);
          turn(v[i][p], v[i][q]);
        }
      }
  }
}

// Writes a step of one standard deviation along the most negative curvature of the objective at n.x into n.step; false
// if there is none. In the metric C of Gauss-Newton's information, the curvature C^-1 H C^-T is 1 wherever the graph is
// linear, and products add few other directions: a few Lanczos steps, by differences of gradients, find them.
bool find_downward_bend(Memory& memory) {
  // Difference step; relative residual of the curvature product that ends Lanczos.
  constexpr double kShort = 1e-3, kNoMore = 1e-6;
  Numbers& n = memory.numbers;
  const std::size_t size = n.x.size();
  const int most = static_cast<int>(std::min<std::size_t>(size, kMostGradients));
  if (size == 0) return false;
  std::vector<double>&here = memory.here, &next = memory.next;
  memory.basis.resize(size * kMostGradients);
  here.resize(size);
  next.resize(size);
  const auto basis = [&](int i) { return memory.basis.data() + static_cast<std::size_t>(i) * size; };
  const auto add = [&](double by, const double* to) {
    for (std::size_t u = 0; u < size; ++u) next[u] += by * to[u];
  };
  const auto normalise = [&] {
    const double length = std::sqrt(std::inner_product(next.begin(), next.end(), next.begin(), 0.0));
    for (double& z : next) z /= length;
    return length;
  };
  const auto find_gradient_at = [&](const std::vector<double>& x, std::vector<double>& out) {
    (void)n.evaluate(x, true);
    n.trace();
    n.find_gradient();
    out = n.gradient;
    n.fronts.solve_lower(out, n.room);
  };
  boost::random::mt19937_64 random(2);
  boost::random::normal_distribution<double> normal;
  find_gradient_at(n.x, here);
  double curvature[kMostGradients][kMostGradients] = {}, directions[kMostGradients][kMostGradients];
  for (double& z : next) z = normal(random);
  (void)normalise();
  int count = 0;
  for (double left = 1; count < most && left > kNoMore; ++count) {
    std::ranges::copy(next, basis(count));
    n.step = next;
    n.fronts.solve_upper(n.step, n.room);
    for (std::size_t u = 0; u < size; ++u) n.trial[u] = n.x[u] + kShort * n.step[u];
    find_gradient_at(n.trial, next);
    for (std::size_t u = 0; u < size; ++u) next[u] = (here[u] - next[u]) / kShort;
    for (int i = 0; i <= count; ++i)
      curvature[i][count] = curvature[count][i] = std::inner_product(next.begin(), next.end(), basis(i), 0.0);
    for (int i = 0; i <= count; ++i) add(-curvature[i][count], basis(i));
    left = normalise();
  }
  find_gradient_at(n.x, here);
  find_eigenvectors(curvature, directions, count);
  int lowest = 0;
  for (int i = 1; i < count; ++i)
    if (curvature[i][i] < curvature[lowest][lowest]) lowest = i;
  if (!(curvature[lowest][lowest] < 0)) return false;
  std::ranges::fill(next, 0.0);
  for (int i = 0; i < count; ++i) add(directions[i][lowest], basis(i));
  n.step = next;
  n.fronts.solve_upper(n.step, n.room);
  return true;
}

}  // namespace

// A stationary point may be a maximum or a saddle, such as 0 between two factors of a product: Gauss-Newton's
// information cannot show that. Steps as long as the Gaussian is wide, or one along the most negative curvature, then
// lead to a lower objective.
JointSolver::End JointSolver::leave_saddle(Memory& memory, JointReport& report) const {
  Numbers& n = memory.numbers;
  if (memory.system->has_constant_gains) return End::converged;
  constexpr int kDirections = 8;
  constexpr double kNoFall = 1e-13;  // a smaller relative decrease is rounding
  boost::random::mt19937_64 random(1);
  boost::random::normal_distribution<double> normal;
  std::vector<double>& lowest = memory.lowest;
  lowest.clear();
  double objective = report.objective - kNoFall * std::abs(report.objective);
  const auto look_along = [&](const std::vector<double>& step, double length) {
    for (std::size_t u = 0; u < n.x.size(); ++u) n.trial[u] = n.x[u] + length * step[u];
    if (const double found = n.evaluate(n.trial, false); found < objective) {
      objective = found;
      lowest = n.trial;
    }
  };
  n.trace();
  (void)n.factorise(0);
  if (find_downward_bend(memory))
    for (const double length : {1.0, -1.0, 0.1, -0.1, 0.01, -0.01}) look_along(n.step, length);
  for (int d = 0; d < kDirections; ++d) {
    for (double& z : n.step) z = normal(random);
    n.fronts.solve_upper(n.step, n.room);
    look_along(n.step, 1);
    look_along(n.step, -1);
  }
  if (lowest.empty()) {
    (void)n.evaluate(n.x, true);
    return End::converged;
  }
  std::swap(n.x, lowest);
  return step_to_the_end(memory, report);
}

}  // namespace dma::joint_system
