// Sums of all terms but one, for every term, in linear time and without cancellation.
//
// "Total minus own" is off by a few ulps of the sum of magnitudes. While |own| is at most half of that sum, the others
// make up the other half at least, and the error stays a few ulps of their magnitude: as good as adding them up. At
// most one term can exceed half; for that one the others are added up.
#pragma once

#include <cmath>
#include <cstddef>

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
    return std::abs(own) <= 0.5 * magnitude_ ? total_ - own : others();
  }

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

}  // namespace dma
