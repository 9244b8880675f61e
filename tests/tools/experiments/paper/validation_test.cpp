// Appendix C in small: the numbers that do not depend on sampling.
#include <doctest/doctest.h>

#include "tools/experiments/paper/figures.h"

namespace dma::reproduce {

TEST_CASE("validation: the master bound holds for every slope, width and ratio of C.1, and grows tight") {
  double largest = 0;
  for (const double slope : {0.1, 0.3, 0.5})
    for (const double width : {0.5, 2.0})
      for (const double r : {0.5, 2.0, 4.0}) {
        const ReluError e = relu_error({.slope = slope, .width = width, .r = r});
        CHECK(e.marginal <= e.bound);
        largest = std::max(largest, e.ratio());
      }
  CHECK(largest > 0.9);
  CHECK(largest < 1);
}

TEST_CASE("validation: the copy factor's coefficient is 3/4") {
  const Options options;
  const Results results;
  Writer w({.name = "copy", .title = "", .heading = ""}, options, results);
  copy_factor(w);
  CHECK(w.section.claims.size() == 2);
  for (const Claim& claim : w.section.claims) {
    INFO(claim.claim << ": " << claim.ours);
    CHECK(claim.holds);
  }
}

}  // namespace dma::reproduce
