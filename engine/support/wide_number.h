// A nonnegative number with the digits of a double and an exponent that never overflows or underflows: for sums of
// products of many probabilities.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace dma {

struct WideNumber {
  double mantissa = 0, exponent = 0;  // mantissa * 2^exponent, the exponent a whole number

  WideNumber() = default;
  explicit WideNumber(double number) {
    int binary = 0;
    mantissa = std::frexp(number, &binary);
    exponent = binary;
  }
  // exp(log), of any size; 0 for -inf.
  static WideNumber from_log(double log) {
    if (log == -HUGE_VAL) return {};
    WideNumber out;
    out.exponent = std::floor(log / std::numbers::ln2);
    // Beyond 2^53 a log has no fractional part: the remainder is rounding, of any size.
    out.mantissa = std::exp(std::clamp(log - out.exponent * std::numbers::ln2, 0.0, std::numbers::ln2));
    return out;
  }
  double log() const { return mantissa == 0 ? -HUGE_VAL : std::log(mantissa) + exponent * std::numbers::ln2; }

  friend WideNumber operator*(WideNumber a, const WideNumber& b) {
    a.mantissa *= b.mantissa;
    a.exponent += b.exponent;
    constexpr double kSmall = 0x1p-500, kLarge = 0x1p+500;  // the next product does not underflow or overflow
    return a.mantissa < kSmall || a.mantissa > kLarge ? a.normalised() : a;
  }
  friend WideNumber operator/(WideNumber a, const WideNumber& b) {
    a.mantissa /= b.mantissa;
    a.exponent -= b.exponent;
    return a.normalised();
  }
  friend bool operator<(const WideNumber& a, const WideNumber& b) {
    if (a.mantissa == 0 || b.mantissa == 0) return a.mantissa < b.mantissa;
    const WideNumber x = a.normalised(), y = b.normalised();
    return x.exponent == y.exponent ? x.mantissa < y.mantissa : x.exponent < y.exponent;
  }
  // The same number, its mantissa in [1/2, 1).
  WideNumber normalised() const {
    WideNumber out(mantissa);
    out.exponent += exponent;
    return out;
  }
  WideNumber& operator+=(WideNumber other) {
    if (other.mantissa == 0) return *this;
    if (mantissa == 0) return *this = other;
    if (other.exponent > exponent) std::swap(*this, other);
    constexpr double kNothing = -1100;  // beyond this difference of exponents the smaller term changes no digit
    if (const double below = other.exponent - exponent; below > kNothing)
      mantissa += std::ldexp(other.mantissa, static_cast<int>(below));
    return *this;
  }
};

}  // namespace dma
