// Comparison relative to the expected value: doctest's Approx alone compares relative to 1 + |x|, too weak below 1. A
// value that cancels has rounding errors of the size of what cancels: `of` says that size.
#pragma once

#include <doctest/doctest.h>

namespace dma::oracle {

inline doctest::Approx relative(double expected, double error, double of = 0) {
  // Approx compares with <: zero against zero needs a scale above 0.
  return doctest::Approx(expected).scale(of > 0 ? of : 1e-290).epsilon(error);
}

}  // namespace dma::oracle
