// Forward-mode automatic differentiation: a value and its derivative along one direction. Nested, Dual<Dual<double>>,
// it carries the second derivative.
#pragma once

namespace dma::testing {

template <class T>
struct Dual {
  T value{}, slope{};
  Dual() = default;
  Dual(double constant) : value(constant) {}
  Dual(T v, T s) : value(v), slope(s) {}
  friend Dual operator+(const Dual& a, const Dual& b) { return {a.value + b.value, a.slope + b.slope}; }
  friend Dual operator-(const Dual& a, const Dual& b) { return {a.value - b.value, a.slope - b.slope}; }
  friend Dual operator*(const Dual& a, const Dual& b) {
    return {a.value * b.value, a.value * b.slope + a.slope * b.value};
  }
};

inline double plain(double x) { return x; }
template <class T>
double plain(const Dual<T>& x) {
  return plain(x.value);
}

}  // namespace dma::testing
