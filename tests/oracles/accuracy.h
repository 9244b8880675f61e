// The accuracy of message functions, against an exact oracle.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tests/oracles/high_precision.h"
#include "tests/oracles/paper_messages.h"
#include "tests/oracles/quadrature.h"
#include "tests/oracles/random_messages.h"
#include "tests/oracles/relative.h"

namespace dma::oracle {

inline constexpr std::uint64_t kSeed = 20240607;
inline constexpr int kAccuracyTrials = 10'000;

// The largest errors seen. A variance is compared relative to itself. A mean is compared relative to max(|mean|, sd):
// means cross zero, where no relative error is bounded, and an error far below the message's own sd has no effect.
struct Accuracy {
  double mean = 0;
  double variance = 0;
  int compared = 0;
  int out_of_range = 0;

  // Products rather than quotients and roots: sixty-digit arithmetic takes most of the time of the comparison.
  void compare(const Natural& message, const Moments& truth) {
    static const Real least = std::numeric_limits<double>::min();
    // A precision that a normal double cannot represent has no message: the function answers with the uniform one (or
    // with a denormal of few digits), which differs from it by less than any representable message does.
    if (least * truth.variance > 1) {
      ++out_of_range;
      CHECK(is_valid(message));
      CHECK(message.rho < 2 * std::numeric_limits<double>::min());
      return;
    }
    ++compared;
    REQUIRE(message.is_proper());
    const Real rho = message.rho, widened = rho * truth.variance, square = truth.mean * truth.mean;
    const Real off = Real(message.tau) - rho * truth.mean, scale = std::max<Real>(square, truth.variance);
    mean = std::max(mean, std::sqrt(static_cast<double>(off * off / (rho * rho * scale))));
    variance = std::max(variance, static_cast<double>(abs(1 - widened) / widened));
  }
};

// `trial(random, range, accuracy)` draws messages from the range and compares at least one result.
template <typename Trial>
void check_accuracy(const std::string& subject, const Trial& trial) {
  for (const Range& range : {kOrdinary, kFar}) {
    RandomMessages random(kSeed);
    Accuracy accuracy;
    for (int i = 0; i < kAccuracyTrials; ++i) trial(random, range, accuracy);
    MESSAGE(subject, ", ", range.name, ": worst mean error ", accuracy.mean, ", variance error ", accuracy.variance,
            " of ", accuracy.compared, " compared, ", accuracy.out_of_range, " below the double range, seed ", kSeed);
    CHECK(accuracy.compared + accuracy.out_of_range >= kAccuracyTrials);
    CHECK(accuracy.mean <= range.tolerance);
    CHECK(accuracy.variance <= range.tolerance);
  }
}

}  // namespace dma::oracle
