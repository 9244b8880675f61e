// Fronts of at most eight unknowns, as chains and trees of small states have them by the thousand: the loops of
// fronts.cpp with compile-time lengths, so that the compiler keeps the numbers in registers. Those of seven and eight
// have at most four columns of their own: others are rare, and would be half of the code.
//
// A front is L = U diag(pivots) U^T over its own columns, U unit lower. Its panel holds U below the diagonal, column by
// column, and 0 on the diagonal; entries above are not read.
#pragma once

#include <cstdint>

namespace dma::joint_system {

constexpr std::uint32_t kSmallFront = 8;
// A pivot below this fraction of its diagonal is rounding.
constexpr double kLostPivot = 1e-13;

struct SmallFront {
  // Computes from the lower triangle of `front` (size x size) the panel, 1 / pivots, and the update matrix for the
  // parent (lower triangle, below x below). Returns false, with `front` unchanged, if a pivot is lost.
  bool (*eliminate)(const double* front, const double* diagonal, double* panel, double* inverse_pivots, double* left);
  // y <- U^-1 y and y <- U^-T y for this front: `own` are its numbers in y, `later` the places of the others.
  void (*forward)(const double* panel, double* own, double* y, const std::uint32_t* later);
  void (*backward)(const double* panel, double* own, const double* y, const std::uint32_t* later);
  // Columns of the inverse, given the part below them; z is size x size, symmetric.
  void (*invert)(const double* panel, const double* inverse_pivots, double* z);
};

constexpr bool is_small_front(std::uint32_t size, std::uint32_t own) {
  return size <= 6 || (size <= kSmallFront && own <= 4);
}
// For small fronts.
const SmallFront& small_front(std::uint32_t size, std::uint32_t own);

}  // namespace dma::joint_system
