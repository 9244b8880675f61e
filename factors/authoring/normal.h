// The standard normal and its one-sided pieces, accurate in relative terms arbitrarily far into the tail.
//
// All moments of N(0, 1) cut at a point reduce to the upper tail {X > x}, x >= 0:
//
//   p = P(X > x)      hazard = phi(x) / p = E[X | X > x]      excess = E[X - x | X > x]      variance = Var[X | X > x]
//
// Rectified moments, E and Var of max(0, X - x), are then sums of non-negative terms and cannot cancel:
//
//   mean = p excess                                 variance = p (variance + (1 - p) excess^2)
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "engine/support/pair.h"

namespace dma::normal {

inline constexpr double kInverseSqrtTwoPi = 0.39894228040143267794;
inline constexpr double kSqrtTwoPi = 2.50662827463100050242;
inline constexpr double kInverseSqrtTwo = 0.70710678118654752440;

// Beyond this distance P(X > x) < 4e-350 underflows to 0: only one side of the cut has mass.
inline constexpr double kOneSided = 40;

// phi(t)
inline double density(double t) { return kInverseSqrtTwoPi * std::exp(-0.5 * t * t); }

// Phi(t); relative accuracy in both tails, because erfc has it.
inline double distribution(double t) { return 0.5 * std::erfc(-kInverseSqrtTwo * t); }

// Mills' ratio R(x) = P(X > x) / phi(x) and its derivative, R' = x R - 1 < 0.
struct Mills {
  double ratio, derivative;
};
inline constexpr double kMillsEnd = 16;

// Both, and exp(-x^2/2), for 0 <= x < kMillsEnd with full relative accuracy: by Taylor polynomials about the nearest of
// evenly spaced nodes. It has no call, branch or division, so loops over many x vectorise.
class MillsTable {
 public:
  static const MillsTable& get();  // made at the first call

  // p(h) = even(h^2) + h odd(h^2), both halves side by side by Horner's rule, and their derivatives by the same:
  // p'(h) = odd(h^2) + 2 h (even'(h^2) + h odd'(h^2)).
  Mills at(double x) const {
    const std::size_t node = nearest(x);
    const double h = x - static_cast<double>(node) / kNodesPerUnit, square = h * h;
    const auto& c = nodes_[node].ratio;
    Pair ratio = c[kPairs - 1], derivative{};
    for (std::size_t n = kPairs - 1; n-- > 0;) {
      derivative = derivative * square + ratio;
      ratio = ratio * square + c[n];
    }
    return {ratio[0] + h * ratio[1], ratio[1] + 2 * h * (derivative[0] + h * derivative[1])};
  }
  // exp(-x^2/2) = exp(-node^2/2) exp(d), d = -h (node + h/2), |d| <= 1/4.
  double exponential(double x) const {
    const std::size_t node = nearest(x);
    const double at = static_cast<double>(node) / kNodesPerUnit, h = x - at, d = -h * (at + 0.5 * h), square = d * d;
    Pair sum{kInverseFactorials[12], 0};
    for (std::size_t n = 12; n > 0;) {
      n -= 2;
      sum = sum * square + Pair{kInverseFactorials[n], kInverseFactorials[n + 1]};
    }
    return nodes_[node].exponential * (sum[0] + d * sum[1]);
  }
  // Both at |u| for many u. Beyond the table's end, where half of a network's messages may be, the exponential is 0 and
  // the ratio is arbitrary. Indices within the table are collected first, because a branch per message would often be
  // mispredicted.
  void look_up(const double* u, std::size_t count, Mills* mills, double* exponentials) const {
    constexpr std::size_t kAtOnce = 64;
    for (; count > kAtOnce; count -= kAtOnce, u += kAtOnce, mills += kAtOnce, exponentials += kAtOnce)
      look_up(u, kAtOnce, mills, exponentials);
    std::array<std::uint32_t, kAtOnce> inside;
    std::size_t number = 0;
    for (std::size_t i = 0; i < count; ++i) {
      inside[number] = static_cast<std::uint32_t>(i);
      number += std::abs(u[i]) < kMillsEnd ? 1 : 0;
      mills[i] = {1, 0};
      exponentials[i] = 0;
    }
    for (std::size_t k = 0; k < number; ++k) {
      const std::size_t i = inside[k];
      const double x = std::abs(u[i]);
      mills[i] = at(x);
      exponentials[i] = exponential(x);
    }
  }

 private:
  static constexpr int kNodesPerUnit = 32;
  static constexpr std::size_t kNodes = static_cast<std::size_t>(kMillsEnd) * kNodesPerUnit + 1;
  static constexpr std::size_t kTerms = 10;  // |h| <= 1/64: the first term left out is below 1e-19 of R and 1e-17 of R'
  static constexpr std::size_t kPairs = kTerms / 2;
  static constexpr auto kInverseFactorials = [] {
    std::array<double, 13> inverse{1};  // 4^-13 / 13! < 1e-17
    for (std::size_t n = 1; n < inverse.size(); ++n) inverse[n] = inverse[n - 1] / static_cast<double>(n);
    return inverse;
  }();

  MillsTable();
  static std::size_t nearest(double x) { return static_cast<std::size_t>(x * kNodesPerUnit + 0.5); }
  static std::array<double, kTerms> integrals_downwards(double x);
  static std::array<double, kTerms> integrals_upwards(double x);

  struct Node {
    std::array<Pair, kPairs> ratio;  // Taylor coefficients of even and odd order
    double exponential;
  };
  std::array<Node, kNodes> nodes_;
};

inline Mills mills(double x) { return MillsTable::get().at(x); }

// The shape of an upper tail {X > x}; nothing here underflows.
struct TailShape {
  double ratio;     // P(X > x) / phi(x)
  double hazard;    // phi(x) / P(X > x)
  double excess;    // hazard - x
  double variance;  // 1 - hazard * excess
};

// Levels of the continued fraction below that leave a truncation error under 1e-16 from kMillsEnd on.
inline constexpr int kContinuedFractionLevels = 12;

// Precondition x >= 0.
//
// hazard = 1/R and excess = 1/R - x = -R'/R; variance = 1 - hazard excess = (R^2 + R') / R^2 loses x^2 ulps, 256 of
// them at kMillsEnd. Beyond it Laplace's continued fraction hazard = x + 1/(x + 2/(x + 3/(x + ...))) gives, with e =
// 3/(x + 4/(x + ...)),
//
//   c = 2/(x + e)    excess = 1/(x + c)    variance = 1 - (x + excess) excess = (1 + 2 (c - e)/(x + e)) / (x + c)^2,
//
// the last by c (x + e) = 2: nothing is subtracted from a nearly equal number.
inline TailShape tail_shape(const Mills& mills) {
  const auto [ratio, derivative] = mills;
  const double hazard = 1 / ratio;
  return {ratio, hazard, -derivative * hazard, (ratio * ratio + derivative) * hazard * hazard};
}
inline TailShape tail_shape(double x) {
  if (x < kMillsEnd) return tail_shape(mills(x));
  double e = 0;
  for (int n = kContinuedFractionLevels; n >= 3; --n) e = n / (x + e);
  const double c = 2 / (x + e);
  const double excess = 1 / (x + c);
  const double hazard = x + excess;
  return {1 / hazard, hazard, excess, (1 + 2 * (c - e) / (x + e)) * excess * excess};
}

// A tail shape with its probability.
struct Tail : TailShape {
  double density;      // phi(x)
  double probability;  // P(X > x)
};

inline Tail tail(const TailShape& shape, double density) { return {shape, density, density * shape.ratio}; }

// Precondition x >= 0.
inline Tail tail(double x) {
  if (!(x < kMillsEnd)) return tail(tail_shape(x), density(x));
  const MillsTable& table = MillsTable::get();
  return tail(tail_shape(table.at(x)), kInverseSqrtTwoPi * table.exponential(x));
}

// h(t) = phi(t) / Phi(t), minus the mean of N(0, 1) below t.
inline double hazard(double t) { return t < 0 ? tail(-t).hazard : density(t) / distribution(t); }

// log Phi(t), to full relative accuracy however small Phi is.
inline double log_distribution(double t) {
  if (t > 0) return std::log1p(-distribution(-t));
  return std::log(kInverseSqrtTwoPi * tail_shape(-t).ratio) - 0.5 * t * t;
}

// Var[X | X < t] = 1 - h(t) (h(t) + t); tends to 1/t^2 for t -> -inf and to 1 for t -> +inf.
inline double truncated_variance(double t) {
  if (t < 0) return tail(-t).variance;
  const double h = hazard(t);
  return 1 - h * (h + t);
}

// g(u) = Var[max(0, X + u)] of the tail {X > |u|}, that is for u = -|u|.
inline double rectified_variance(const Tail& beyond) {
  const double p = beyond.probability;
  return p * (beyond.variance + (1 - p) * beyond.excess * beyond.excess);
}

}  // namespace dma::normal
