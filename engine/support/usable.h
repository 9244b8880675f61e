// Checks that the numbers of a fit or a file are usable: a damaged file must not cause a crash or nonsense.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <string_view>

#include "engine/support/text.h"

namespace dma {

inline void expect(bool holds, std::string_view what) {
  if (!holds) fail("{}", what);
}

// Their squares, products and quotients stay in the range of a double.
inline constexpr double kLargestUsable = 1e100, kLeastDivisor = 1e-100;
inline bool is_moderate(double x) { return x >= -kLargestUsable && x <= kLargestUsable; }
template <class Derived>
bool is_moderate(const Eigen::MatrixBase<Derived>& a) {
  return (a.array().abs() <= kLargestUsable).all();  // false for NaN
}
inline bool is_divisor(double x) { return x >= kLeastDivisor && x <= kLargestUsable; }

// True for a lower factor of a precision matrix of this size.
inline bool is_factor(const Eigen::MatrixXd& lower, Eigen::Index size) {
  return lower.rows() == size && lower.cols() == size && is_moderate(lower) &&
         std::ranges::all_of(Eigen::VectorXd(lower.diagonal()), is_divisor);
}

}  // namespace dma
