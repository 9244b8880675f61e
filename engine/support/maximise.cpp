#include "engine/support/maximise.h"

#include <algorithm>
#include <boost/math/tools/minima.hpp>
#include <cmath>

namespace dma {

namespace {

using Vector = Eigen::VectorXd;

constexpr double kLongestStep = 3;       // largest change of a number in the first step
constexpr double kExpectedShare = 1e-4;  // fraction of the gain that the gradient predicts
constexpr double kShortestStep = 1e-12;
constexpr double kRounding = 1e-14;  // relative gain that may be rounding

// Numbers at a bound that the gradient pushes against stay fixed.
Vector free_part(const Vector& at, Vector vector, const Vector& gradient, const MaximiseOptions& options) {
  for (Eigen::Index i = 0; i < at.size(); ++i)
    if ((at[i] <= options.low && gradient[i] < 0) || (at[i] >= options.high && gradient[i] > 0)) vector[i] = 0;
  return vector;
}

}  // namespace

Maximum maximise(const std::function<double(const Vector&, Vector&)>& function, Vector start,
                 const MaximiseOptions& options) {
  const auto inside = [&](const Vector& x) { return Vector(x.cwiseMax(options.low).cwiseMin(options.high)); };
  Maximum best{inside(start), 0, 1, false};
  Vector gradient(start.size());
  best.value = function(best.at, gradient);
  Eigen::MatrixXd curvature = Eigen::MatrixXd::Identity(start.size(), start.size());  // inverse, positive definite
  bool is_fresh = true;
  while (best.evaluations < options.limit) {
    const Vector slope = free_part(best.at, gradient, gradient, options);
    if (slope.lpNorm<Eigen::Infinity>() <= options.tolerance) {  // 0 if there are no numbers
      best.converged = true;
      break;
    }
    Vector direction = free_part(best.at, curvature * slope, gradient, options);
    direction *= std::min(1.0, kLongestStep / direction.cwiseAbs().maxCoeff());
    bool is_found = false;
    Vector next, next_gradient(start.size());
    double value = 0;
    for (double step = 1; step > kShortestStep && best.evaluations < options.limit && !is_found; step *= 0.5) {
      next = inside(best.at + step * direction);
      value = function(next, next_gradient);
      ++best.evaluations;
      is_found = std::isfinite(value) && value >= best.value + kExpectedShare * slope.dot(next - best.at);
    }
    const double gained = is_found ? value - best.value : 0;
    const bool was_fresh = is_fresh;
    if (is_found) {
      const Vector moved = next - best.at, bent = gradient - next_gradient;
      const double product = moved.dot(bent);
      best.at = next;
      best.value = value;
      gradient = next_gradient;
      if (product > 1e-12 * moved.norm() * bent.norm()) {
        if (is_fresh) curvature *= product / bent.squaredNorm();
        const Vector image = curvature * bent;
        curvature += ((1 + bent.dot(image) / product) / product) * moved * moved.transpose() -
                     (image * moved.transpose() + moved * image.transpose()) / product;
        is_fresh = false;
      }
    }
    if (gained > kRounding * (1 + std::abs(best.value)) || best.evaluations >= options.limit) continue;
    // No gain: reset the curvature, unless the step already followed the gradient.
    if (was_fresh) {
      best.converged = true;
      break;
    }
    curvature.setIdentity();
    is_fresh = true;
  }
  return best;
}

Minimum minimise(const std::function<double(double)>& function, double low, double high, int bits) {
  std::uintmax_t limit = 100;  // also if its values are NaN
  const auto [at, value] = boost::math::tools::brent_find_minima(function, low, high, bits, limit);
  return {at, value};
}

}  // namespace dma
