// Sums of all terms but one, for every term, in linear time and without cancellation.
//
// "Total minus own" is off by a few ulps of the sum of magnitudes. While |own| is at most half of that sum, the others
// make up the other half at least, and the error stays a few ulps of their magnitude: as good as adding them up. At
// most one term can exceed half; for that one the others are added up.
//
// For many short rows branches cost more than additions: every term gets the sum of its predecessors plus the sum of
// its successors, and nothing is subtracted.
#pragma once

#include <cmath>
#include <cstddef>
#include <type_traits>

namespace dma {

class LeaveOneOut {
 public:
  void add(double term) {
    total_ += term;
    magnitude_ += std::abs(term);
  }

  // The sum without `own`, one of the terms added. `others()` adds up all the rest; it is called for one term at most.
  template <typename Others>
  double without(double own, const Others& others) const {
    return may_subtract(own, magnitude_) ? total_ - own : others();
  }

  // True if "total minus own" is as accurate as adding up the others, given the sum of all magnitudes.
  static bool may_subtract(double own, double magnitude) { return std::abs(own) <= 0.5 * magnitude; }

 private:
  double total_ = 0;
  double magnitude_ = 0;
};

// start + the sum of term(k) over 0 <= k < count, k != j.
template <typename Term>
double sum_of_others(std::size_t j, std::size_t count, const Term& term, double start = 0) {
  double sum = start;
  for (std::size_t k = 0; k < count; ++k)
    if (k != j) sum += term(k);
  return sum;
}

// sums[t] = the sum of term[k] over 0 <= k < count, k != t.
template <typename Count>
void sums_of_others(const double* term, Count count, double* __restrict sums) {
  double after = 0, before = 0;
  for (std::size_t t = count; t-- > 0; after += term[t]) sums[t] = after;
  for (std::size_t t = 0; t < count; before += term[t], ++t) sums[t] += before;
}

// Calls use(count) with a short row's length as a compile-time constant: the compiler then keeps the row in registers.
template <typename Use>
auto with_row_length(std::size_t count, const Use& use) {
  switch (count) {
    case 2: return use(std::integral_constant<std::size_t, 2>());
    case 3: return use(std::integral_constant<std::size_t, 3>());
    case 4: return use(std::integral_constant<std::size_t, 4>());
    default: return use(count);
  }
}

}  // namespace dma
