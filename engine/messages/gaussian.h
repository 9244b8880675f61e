// The Gaussian message: two natural parameters, and the closed set {proper, uniform, point mass} they range over.
//
//   tau = mean / variance, rho = 1 / variance          proper Gaussian, 0 < rho < inf
//   tau = rho = 0                                      uniform: the neutral element of the product
//   rho = +inf, tau = location                         point mass: natural parameters have no such limit, so the
//                                                      location itself is kept in tau
//
// Every function here is total on that set: no NaN comes out unless one goes in. One more kind of message may be stored
// but is no density: a widening message, -inf < rho < 0 (see run.h).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <type_traits>

namespace dma {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The stored pair of numbers. A family (Gaussian, LogNormal, ...) gives them their meaning.
struct Natural {
  double tau = 0;
  double rho = 0;

  bool is_uniform() const { return rho == 0; }  // says nothing
  bool is_point() const { return rho == kInfinity; }  // knows the value
  bool is_proper() const { return rho > 0 && rho < kInfinity; }  // can be normalised
  friend bool operator==(const Natural&, const Natural&) = default;
};

// A message an edge may carry: finite location, precision in [0, inf], and no location without precision.
inline bool is_valid(const Natural& m) {
  return std::abs(m.tau) < kInfinity && (m.rho > 0 || (m.rho == 0 && m.tau == 0));
}

// A message of negative precision; the belief that contains it may still be proper.
inline bool widens(const Natural& m) { return m.rho < 0 && m.rho > -kInfinity && std::abs(m.tau) < kInfinity; }

// True if the sum is proper or uniform: no point mass among the terms and no overflow on the way. One addition and one
// comparison; may return false a factor 2 too early.
inline bool is_finite_sum(double tau, double rho) { return std::abs(tau) + rho < kInfinity; }

Natural multiply_unusual(const Natural& a, const Natural& b);  // for points, and sums that overflow

// Product of densities. A point mass absorbs everything; of two point masses the first is kept (the engine reports
// contradicting ones, see run.h). A sum that overflows becomes the nearest member of the closed set: see closed(). A
// caller may add many messages at once and check the sum at the end; if the check fails, it multiplies them one by one.
inline Natural multiply(const Natural& a, const Natural& b) {
  const Natural sum{a.tau + b.tau, a.rho + b.rho};
  return is_finite_sum(sum.tau, sum.rho) ? sum : multiply_unusual(a, b);
}

// Returns the message unchanged, or uniform if its mean or variance overflows: it is then flat over every representable
// number.
inline Natural with_finite_moments(const Natural& m) {
  return !m.is_proper() || (1 / m.rho < kInfinity && std::abs(m.tau / m.rho) < kInfinity) ? m : Natural{};
}

// Quotient of densities, a / b. A point mass divided by anything but a point mass stays; divided by a point mass it
// becomes uniform. The result may have negative precision: the caller must check (is_valid).
inline Natural divide(const Natural& a, const Natural& b) {
  if (b.is_point()) return {};
  if (a.is_point()) return a;
  return {a.tau - b.tau, a.rho - b.rho};
}

// Density to the power of exponent > 0: as if it had been multiplied that many times. A point mass is its own power.
inline Natural power(const Natural& m, double exponent) {
  return m.is_point() ? m : Natural{exponent * m.tau, exponent * m.rho};
}

// True if two point masses agree up to the rounding that separates two ways of computing one value, from numbers of up
// to this size.
inline bool is_same_point(double a, double b, double size = 1) {
  constexpr double kSamePoint = 1e-9;
  return !(std::abs(a - b) > kSamePoint * std::fmax(size, std::fmax(std::abs(a), std::abs(b))));
}

struct Gaussian : Natural {
  constexpr Gaussian() = default;
  constexpr Gaussian(double natural_mean, double precision) : Natural{natural_mean, precision} {}
  constexpr explicit Gaussian(const Natural& n) : Natural(n) {}

  static constexpr Gaussian uniform() { return {}; }  // says nothing
  static constexpr Gaussian point(double location) { return {location, kInfinity}; }  // knows the value
  // Variance 0 is the point mass, variance +inf is uniform.
  static Gaussian from_moments(double mean, double variance);

  // A uniform message has mean 0 and variance +inf.
  double mean() const { return is_point() ? tau : is_uniform() ? 0.0 : tau / rho; }
  double variance() const { return 1 / rho; }       // 0 for a point
  double sd() const { return 1 / std::sqrt(rho); }  // standard deviation
};

// The message with these natural parameters and this mean, where they fit in a double; otherwise its neighbour in the
// closed set:
//   rho underflows, or the mean leaves the range  uniform: the density is flat over every representable number
//   rho or tau overflows                          point mass: |tau| = inf means |mean| / sd > 1e154, a location known
//                                                 to far more digits than a double holds
// A NaN made by overflowed intermediates (inf/inf, 0 * inf) says nothing about x: uniform as well. A widening message
// is kept. The mean is a number, or a function that computes it: messages within range skip its division.
template <class Mean>
Gaussian closed(double tau, double rho, const Mean& mean) {
  if (rho > 0 && rho < kInfinity && std::abs(tau) < kInfinity) return {tau, rho};
  if (widens({tau, rho})) return {tau, rho};
  double location;
  if constexpr (std::is_invocable_v<Mean>) location = mean();
  else location = mean;
  return rho > 0 && std::isfinite(location) ? Gaussian::point(location) : Gaussian::uniform();
}

inline Gaussian Gaussian::from_moments(double mean, double variance) {
  const double rho = 1 / variance;
  return closed(mean * rho, rho, mean);
}

// The message of c x, given that of x: exact. c = 0 gives the point mass at 0.
inline Gaussian scaled(const Gaussian& x, double c) {
  if (x.is_point()) return closed(c * x.tau, kInfinity, c * x.tau);
  if (c == 0) return Gaussian::point(0);
  return closed(x.tau / c, x.rho / c / c, [&] { return c * x.mean(); });
}

inline Gaussian operator*(const Gaussian& a, const Gaussian& b) { return Gaussian(multiply(a, b)); }
inline Gaussian operator/(const Gaussian& a, const Gaussian& b) { return Gaussian(divide(a, b)); }

// log N(x; mean, variance). Uniform: 0 (the constant function 1). Point mass: +inf at its location, -inf elsewhere. A
// widening message: the same formula with |rho| in its logarithm, which cancels in the evidence.
double log_density(const Gaussian& g, double x);

// The log of the integral of exp(tau x - rho x^2 / 2).
double log_normaliser(const Gaussian& g);

// KL(p || q) in nats; 0 for p == q, +inf where p is not absolutely continuous with respect to q or p is uniform.
double kl(const Gaussian& p, const Gaussian& q);

bool any_uniform(std::span<const Gaussian> messages);  // true if one of them says nothing

// log of the integral of p(x) q(x) dx, both taken as normalised densities (a uniform one as the constant 1, a widening
// one with log_density's constant); NaN where the integral does not exist.
double log_overlap(const Gaussian& p, const Gaussian& q);

// Measures how far a message has moved.
// The size of a change of message on a scale without units: the precision relatively, the location in standard
// deviations while it is within a few of zero and relatively farther out (where rounding alone exceeds any tolerance
// in standard deviations).
inline double change_between(const Natural& before, const Natural& after) {
  if (before == after) return 0;
  const double rho = std::max(std::abs(before.rho), std::abs(after.rho));
  if (rho == kInfinity) return kInfinity;
  const double tau = std::max(std::abs(before.tau), std::abs(after.tau));
  return std::max(std::abs(after.rho - before.rho) / rho, std::abs(after.tau - before.tau) / (std::sqrt(rho) + tau));
}

// The arithmetic of messages on whole arrays, total on the closed set like that of single ones (gaussian.h).
// Messages one after the other, parameter by parameter.
struct MessageArrays {
  double* tau = nullptr;
  double* rho = nullptr;
  Natural operator[](std::size_t i) const { return {tau[i], rho[i]}; }
  // Message i becomes m.
  void set(std::size_t i, const Natural& m) const { tau[i] = m.tau, rho[i] = m.rho; }
  // The messages from that one on.
  MessageArrays from(std::size_t first) const { return {tau + first, rho + first}; }
};

// out = a * b. `out` may be `a` or `b`, but overlap neither in part. Returns whether one of b is a point mass.
bool multiply(const MessageArrays& a, const MessageArrays& b, const MessageArrays& out, std::size_t size);

// out[i] *= the product of messages[row * size + i] over all rows.
void multiply_by_rows(const MessageArrays& out, const MessageArrays& messages, std::size_t rows, std::size_t size);

// True if one of them is a point mass.
inline bool has_point(const MessageArrays& messages, std::size_t size) {
  std::size_t points = 0;
  for (std::size_t i = 0; i < size; ++i) points += messages.rho[i] == kInfinity;
  return points > 0;
}

}  // namespace dma
