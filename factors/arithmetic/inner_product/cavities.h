// The messages from the sum to each of its products: the total minus all other products.
#pragma once

#include <cstdint>
#include <type_traits>

#include "engine/messages/leave_one_out.h"
#include "factors/arithmetic/inner_product/block.h"

namespace dma::inner_product {

// The message from the sum to a term is the total minus the sum of all, plus that term. That is as accurate as adding
// up the others if the term does not dominate them.
struct Rest {
  double mean, variance;
};
inline Rest rest_of(const double* m, const double* v, std::size_t terms, double total_mean, double total_variance) {
  double mean[2] = {}, variance[2] = {};  // two accumulators: additions wait for each other
  std::size_t t = 0;
  for (; t + 2 <= terms; t += 2)
    for (std::size_t i = 0; i < 2; ++i) {
      mean[i] += m[t + i];
      variance[i] += v[t + i];
    }
  if (t < terms) {
    mean[0] += m[t];
    variance[0] += v[t];
  }
  return {total_mean - (mean[0] + mean[1]), total_variance + (variance[0] + variance[1])};
}
// True if a term exceeds the rest by so much, in variance or in standard deviations. Below that the difference loses at
// most 8 of a double's 53 bits: 6e-14 of the variance, or of a standard deviation.
inline bool dominates(double m, double v, double left_variance) {
  constexpr double kMuch = 256;
  return !((kMuch * left_variance >= v) & (kMuch * kMuch * left_variance >= m * m));
}

// The arrays of one slot of a block, from which the sum's messages to its terms are computed.
template <class Terms>
struct Cavities {
  static constexpr bool kIsShort = !std::is_same_v<Terms, std::size_t>;  // compile-time length, see with_row_length
  Terms terms;
  const double *m, *v;  // the products
  double *c, *k;        // the results
  double total_mean, total_variance;

  // Returns false if a term dominates the others.
  bool by_difference() const {
    const Rest rest = rest_of(m, v, terms, total_mean, total_variance);
    std::int64_t dominant = 0;
    DMA_INDEPENDENT
    for (std::size_t t = 0; t < terms; ++t) {
      c[t] = rest.mean + m[t];
      k[t] = rest.variance - v[t];
      dominant += dominates(m[t], v[t], k[t]) ? 1 : 0;
    }
    return dominant == 0;
  }
  // Sums over all later terms first, then over all earlier ones; no sum has one of its own terms subtracted.
  [[gnu::always_inline]] void by_partial_sums() const {
    double mean = 0, variance = 0;
    for (std::size_t t = terms; t-- > 0; mean += m[t], variance += v[t]) {
      c[t] = mean;
      k[t] = variance;
    }
    mean = variance = 0;
    for (std::size_t t = 0; t < terms; mean += m[t], variance += v[t], ++t) {
      c[t] = total_mean - (mean + c[t]);
      k[t] = total_variance + (variance + k[t]);
    }
  }
};

template <class Terms>
[[gnu::always_inline]] inline void form_cavities(const Block& block, Terms terms, std::size_t slot, double total_mean,
                                                 double total_variance) {
  const std::size_t first = slot * terms;
  const Cavities<Terms> cavities{terms, block.mean() + first, block.variance() + first, block.cavity_mean() + first,
                                 block.cavity_variance() + first, total_mean, total_variance};
  if (!cavities.kIsShort && cavities.by_difference()) return;
  cavities.by_partial_sums();
}

}  // namespace dma::inner_product
