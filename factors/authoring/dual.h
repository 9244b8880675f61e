// Numbers that carry their derivatives by up to n inputs: to differentiate a function written for any number type, call
// it with these. Call mathematical functions without std::, as in exp(x).
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>

namespace dma {

template <std::size_t n>
struct Dual {
  double value = 0;
  std::array<double, n> slope = {};

  Dual() = default;
  Dual(double v) : value(v) {}  // NOLINT: 2 * x

  // value, with the derivatives of x (and y) by the chain rule. A constant has none, even at points where the function
  // is not differentiable.
  static Dual of(double value, const Dual& x, double by_x) {
    Dual out(value);
    for (std::size_t i = 0; i < n; ++i) out.slope[i] = x.slope[i] == 0 ? 0 : by_x * x.slope[i];
    return out;
  }
  static Dual of(double value, const Dual& x, double by_x, const Dual& y, double by_y) {
    Dual out = of(value, x, by_x);
    for (std::size_t i = 0; i < n; ++i)
      if (y.slope[i] != 0) out.slope[i] += by_y * y.slope[i];
    return out;
  }

  friend Dual operator+(const Dual& x, const Dual& y) { return of(x.value + y.value, x, 1, y, 1); }
  friend Dual operator-(const Dual& x, const Dual& y) { return of(x.value - y.value, x, 1, y, -1); }
  friend Dual operator-(const Dual& x) { return of(-x.value, x, -1); }
  friend Dual operator+(const Dual& x) { return x; }
  friend Dual operator*(const Dual& x, const Dual& y) { return of(x.value * y.value, x, y.value, y, x.value); }
  friend Dual operator/(const Dual& x, const Dual& y) {
    const double ratio = x.value / y.value;
    return of(ratio, x, 1 / y.value, y, -ratio / y.value);
  }
  Dual& operator+=(const Dual& x) { return *this = *this + x; }
  Dual& operator-=(const Dual& x) { return *this = *this - x; }
  Dual& operator*=(const Dual& x) { return *this = *this * x; }
  Dual& operator/=(const Dual& x) { return *this = *this / x; }
  friend auto operator<=>(const Dual& x, const Dual& y) { return x.value <=> y.value; }
  friend bool operator==(const Dual& x, const Dual& y) { return x.value == y.value; }

  friend Dual exp(const Dual& x) { return of(std::exp(x.value), x, std::exp(x.value)); }
  friend Dual log(const Dual& x) { return of(std::log(x.value), x, 1 / x.value); }
  friend Dual log1p(const Dual& x) { return of(std::log1p(x.value), x, 1 / (1 + x.value)); }
  friend Dual expm1(const Dual& x) { return of(std::expm1(x.value), x, std::exp(x.value)); }
  friend Dual sqrt(const Dual& x) { return of(std::sqrt(x.value), x, 0.5 / std::sqrt(x.value)); }
  friend Dual sin(const Dual& x) { return of(std::sin(x.value), x, std::cos(x.value)); }
  friend Dual cos(const Dual& x) { return of(std::cos(x.value), x, -std::sin(x.value)); }
  friend Dual tan(const Dual& x) {
    const double t = std::tan(x.value);
    return of(t, x, 1 + t * t);
  }
  friend Dual asin(const Dual& x) { return of(std::asin(x.value), x, 1 / std::sqrt(1 - x.value * x.value)); }
  friend Dual acos(const Dual& x) { return of(std::acos(x.value), x, -1 / std::sqrt(1 - x.value * x.value)); }
  friend Dual atan(const Dual& x) { return of(std::atan(x.value), x, 1 / (1 + x.value * x.value)); }
  friend Dual atan2(const Dual& y, const Dual& x) {
    const double square = x.value * x.value + y.value * y.value;
    return of(std::atan2(y.value, x.value), y, x.value / square, x, -y.value / square);
  }
  friend Dual sinh(const Dual& x) { return of(std::sinh(x.value), x, std::cosh(x.value)); }
  friend Dual cosh(const Dual& x) { return of(std::cosh(x.value), x, std::sinh(x.value)); }
  friend Dual tanh(const Dual& x) {
    const double t = std::tanh(x.value);
    return of(t, x, 1 - t * t);
  }
  friend Dual erf(const Dual& x) {
    return of(std::erf(x.value), x, 2 * std::numbers::inv_sqrtpi * std::exp(-x.value * x.value));
  }
  friend Dual abs(const Dual& x) { return of(std::abs(x.value), x, x.value < 0 ? -1 : 1); }
  friend Dual hypot(const Dual& x, const Dual& y) {
    const double length = std::hypot(x.value, y.value);
    return of(length, x, x.value / length, y, y.value / length);
  }
  friend Dual pow(const Dual& x, double power) {
    return of(std::pow(x.value, power), x, power * std::pow(x.value, power - 1));
  }
  friend Dual pow(const Dual& x, const Dual& y) {
    const double found = std::pow(x.value, y.value);
    return of(found, x, y.value * std::pow(x.value, y.value - 1), y, found == 0 ? 0 : found * std::log(x.value));
  }
  // The angle within half a turn of 0, with derivative 1, also at the seam.
  friend Dual remainder(const Dual& x, double turn) { return of(std::remainder(x.value, turn), x, 1); }
};

}  // namespace dma
