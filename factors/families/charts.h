// Points on manifolds: directions, rotations and poses of the plane and of space. A rotation of space is written as its
// axis times its angle, a pose as its position and then its rotation. A step turns in the frame of the body and moves
// in that of the world:
//
//   (t, R) retracted by (d, w)  =  (t + d, R exp(w))
#pragma once

#include <Eigen/Geometry>
#include <cmath>
#include <numbers>
#include <span>
#include <string>
#include <string_view>

#include "engine/messages/family.h"
#include "engine/messages/gaussian_family.h"

namespace dma {

// Rotations of n dimensions by their angles: one in the plane, three in space.
template <int n>
struct Turn {
  static constexpr int kAngles = n == 2 ? 1 : 3;
  using Vector = Eigen::Matrix<double, n, 1>;
  using Matrix = Eigen::Matrix<double, n, n>;
  using Angles = Eigen::Matrix<double, kAngles, 1>;
  using Slopes = Eigen::Matrix<double, kAngles, kAngles>;
  using Arm = Eigen::Matrix<double, n, kAngles>;

  static Matrix exp(const Angles& w);
  static Angles log(const Matrix& r);                           // angles with |angle| <= pi
  static Angles composed(const Angles& a, const Angles& step);  // log(exp(a) exp(step))
  static Slopes slopes(const Angles& a);                        // the derivative of that by the step, at step 0
  static Arm arm(const Vector& u);                              // the derivative of exp(-w) u at w = 0
};

// Fast path: most angles need no remainder.
inline double wrapped(double angle) {
  return std::abs(angle) <= std::numbers::pi ? angle : std::remainder(angle, 2 * std::numbers::pi);
}

// Belief of any such family: independent Gaussians over the components of a step from their means.
struct PointBelief {
  using Component = GaussianFamily;
  static constexpr bool kObservesComponents = true;

  static std::size_t observe(std::span<const double> values, std::size_t components, double* tau, double* rho);
  static void moments(Components messages, std::size_t components, double* means, double* variances);
  static double log_density(Components message, std::span<const double> value);
  static double log_normaliser(Components message);
  static double kl(Components p, Components q);
  static std::string text(Components message);
};

template <int n, bool kMoves>
struct Points : PointBelief {
  static constexpr std::string_view kName = n == 2 ? (kMoves ? "pose2" : "angle") : (kMoves ? "pose3" : "rotation");
  static constexpr std::string_view kValues = "finite numbers, position before rotation,";
  static constexpr int kPlaces = kMoves ? n : 0, kAngles = Turn<n>::kAngles, kSize = kPlaces + kAngles;

  static void retract(const double* point, const double* step, double* out);
  static void slopes(const double* point, double* out);
  static constexpr Chart kChart = {kSize, &retract, n == 2 ? nullptr : &slopes};
};
using AnglePoint = Points<2, false>;
using RotationPoint = Points<3, false>;
using Pose2Point = Points<2, true>;
using Pose3Point = Points<3, true>;

}  // namespace dma
