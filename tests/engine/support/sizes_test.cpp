#include "engine/support/sizes.h"

#include <doctest/doctest.h>

#include <string>

using namespace dma;

namespace {

constexpr std::uint32_t kAll = 0xffffffffu;

std::string own_name() { return "the slots of 'x'"; }

}  // namespace

TEST_CASE("sizes: sums and products that fit are ordinary") {
  CHECK(add_sizes(2, 3, own_name) == 5);
  CHECK(multiply_sizes(1u << 16, 0xffff, own_name) == 0xffff0000u);
  CHECK(add_sizes(0xfffffffd, 1, own_name) == 0xfffffffe);
  CHECK(checked_size(0, own_name) == 0);
}

TEST_CASE("sizes: sums and products that do not fit are errors with the quantity and its number") {
  CHECK_THROWS_WITH_AS(
      add_sizes(0xfffffffe, 1, own_name),
      "the slots of 'x' number 4294967295, more than the 4294967294 a plan can count; make it smaller, or "
      "split the model",
      Error);
  CHECK_THROWS_AS(multiply_sizes(1u << 16, 1u << 16, own_name), Error);
  CHECK_THROWS_AS(multiply_sizes(kAll, kAll, own_name), Error);
  CHECK_THROWS_AS(add_sizes(kAll, kAll, own_name), Error);
}
