// Comparison relative to the expected value: doctest's Approx alone compares relative to 1 + |x|, too weak below 1.
#pragma once

#include <doctest/doctest.h>

namespace dma::oracle {

inline doctest::Approx relative(double expected, double error) {
  return doctest::Approx(expected).scale(0).epsilon(error);
}

}  // namespace dma::oracle
