#include "engine/support/whole_number.h"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <limits>

using dma::whole_number;

namespace {
constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kUnbounded = std::numeric_limits<double>::infinity();
}

TEST_CASE("whole_number: truncates towards 0 within the bounds") {
  CHECK(whole_number(2.9, 0, 10) == 2);
  CHECK(whole_number(-2.9, -10, 10) == -2);
  CHECK(whole_number(10.0, 0, 10) == 10);
  CHECK(whole_number<std::size_t>(257.5, 257, 4096) == 257);
}

TEST_CASE("whole_number: a number out of range becomes an end of the range, on every processor") {
  CHECK(whole_number<std::size_t>(kNan, 257, 4096) == 257);
  CHECK(whole_number<std::size_t>(kUnbounded, 257, 4096) == 4096);
  CHECK(whole_number<std::size_t>(-kUnbounded, 257, 4096) == 257);
  CHECK(whole_number<std::size_t>(-0.5, 0, 4096) == 0);
  constexpr auto kLeast = std::numeric_limits<std::int64_t>::min(), kMost = std::numeric_limits<std::int64_t>::max();
  CHECK(whole_number(1e300, kLeast, kMost) == kMost);
  CHECK(whole_number(9223372036854775808.0, kLeast, kMost) == kMost);  // 2^63, which kMost rounds to as a double
  CHECK(whole_number(9223372036854774784.0, kLeast, kMost) == 9223372036854774784);  // the next smaller double
  CHECK(whole_number(-1e300, kLeast, kMost) == kLeast);
}
