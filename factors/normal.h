// The standard normal and its one-sided pieces, accurate in relative terms arbitrarily far into the tail.
//
// Everything a factor asks about N(0, 1) cut at a point reduces to the upper tail {X > x}, x >= 0:
//
//   p = P(X > x)      hazard = phi(x) / p = E[X | X > x]      excess = E[X - x | X > x]      variance = Var[X | X > x]
//
// Rectified moments, E and Var of max(0, X - x), are then sums of non-negative terms and cannot cancel:
//
//   mean = p excess                                 variance = p (variance + (1 - p) excess^2)
#pragma once

#include <cmath>
#include <limits>

namespace dma::normal {

inline constexpr double kInverseSqrtTwoPi = 0.39894228040143267794;
inline constexpr double kInverseSqrtTwo = 0.70710678118654752440;

// Beyond this distance P(X > x) < 4e-350 is 0 in double: of a Gaussian cut there, only one side exists.
inline constexpr double kOneSided = 40;

// phi(t)
inline double density(double t) { return kInverseSqrtTwoPi * std::exp(-0.5 * t * t); }

// Phi(t); relative accuracy in both tails, because erfc has it.
inline double distribution(double t) { return 0.5 * std::erfc(-kInverseSqrtTwo * t); }

// One upper tail {X > x} of the standard normal.
struct Tail {
  double probability;
  double density;   // phi(x)
  double hazard;    // phi(x) / P(X > x)
  double excess;    // hazard - x
  double variance;  // 1 - hazard * excess
};

// hazard - x loses x^2 ulps and 1 - hazard * excess loses x^4: at 3 that is 81 of the few ulps of the hazard, 5e-14 in
// all. Above it the continued fraction is used, which converges the faster the larger x is.
inline constexpr double kContinuedFractionFrom = 3;

// Levels that leave a truncation error below 1e-16 in the variance, the most sensitive of the five; fitted, from 2.5
// up, to the smallest depths that do (49 at 2.5, 28 at 4, 15 at 8, 9 at 20, 7 at 40).
inline int continued_fraction_levels(double x) { return 5 + static_cast<int>(112 / x); }

// Precondition x >= 0. One exp, and one erfc below kContinuedFractionFrom.
//
// Far out, Laplace's continued fraction hazard = x + 1/(x + 2/(x + 3/(x + ...))) gives, with e = 3/(x + 4/(x + ...)),
//
//   c = 2/(x + e)    excess = 1/(x + c)    variance = 1 - (x + excess) excess = (1 + 2 (c - e)/(x + e)) / (x + c)^2,
//
// the last by c (x + e) = 2: nothing is subtracted from a nearly equal number. The levels from n on are replaced by the
// solution of r = n/(x + r + 1/s), s^2 = x^2 + 4n, where 1/s is how much the next level exceeds this one: to first
// order r = r0 (1 - 1/s^2) with r0 = 2n/(x + s).
inline Tail tail(double x) {
  const double phi = density(x);
  if (x < kContinuedFractionFrom) {
    const double probability = 0.5 * std::erfc(kInverseSqrtTwo * x);
    const double hazard = phi / probability;
    const double excess = hazard - x;
    return {probability, phi, hazard, excess, 1 - hazard * excess};
  }
  int n = continued_fraction_levels(x);
  const double s_squared = x * x + 4.0 * n;
  double e = 2.0 * n / (x + std::sqrt(s_squared)) * (1 - 1 / s_squared);
  while (--n >= 3) e = n / (x + e);
  const double c = 2 / (x + e);
  const double excess = 1 / (x + c);
  const double hazard = x + excess;
  return {phi / hazard, phi, hazard, excess, (1 + 2 * (c - e) / (x + e)) * excess * excess};
}

// h(t) = phi(t) / Phi(t), the mean of N(0, 1) below t with its sign turned.
inline double hazard(double t) { return t < 0 ? tail(-t).hazard : density(t) / distribution(t); }

// Var[X | X < t] = 1 - h(t) (h(t) + t); tends to 1/t^2 for t -> -inf and to 1 for t -> +inf.
inline double truncated_variance(double t) {
  if (t < 0) return tail(-t).variance;
  const double h = hazard(t);
  return 1 - h * (h + t);
}

// E[max(0, X + u)] = u Phi(u) + phi(u).
inline double rectified_mean(double u) {
  const Tail beyond = tail(std::abs(u));
  const double small = beyond.probability * beyond.excess;
  return u < 0 ? small : u + small;
}

// g(u) = Var[max(0, X + u)] of the tail {X > |u|}, that is for u = -|u|.
inline double rectified_variance(const Tail& beyond) {
  const double p = beyond.probability;
  return p * (beyond.variance + (1 - p) * beyond.excess * beyond.excess);
}

// g(u) = Var[max(0, X + u)]; g(u) = 1 + g(-u) - 2 Phi(-u) because max(0, t) = t + max(0, -t).
inline double rectified_variance(double u) {
  const Tail beyond = tail(std::abs(u));
  const double small = rectified_variance(beyond);
  return u < 0 ? small : 1 + small - 2 * beyond.probability;
}

}  // namespace dma::normal
