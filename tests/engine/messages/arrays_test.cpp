#include "engine/messages/gaussian.h"

#include <doctest/doctest.h>

#include <vector>

namespace {

using namespace dma;

// Products of pairs of these overflow, are point masses, or are ordinary.
const std::vector<Natural> kMessages = {{},
                                        {1.0, 2.0},
                                        {-3.0, 1e-300},
                                        {1e308, 1e308},
                                        {1.5e308, 3.0},
                                        {-1.5e308, 1.0},
                                        {1e300, 1.7e308},
                                        Gaussian::point(2),
                                        Gaussian::point(-1e300)};

struct TestMessages {
  std::vector<double> tau, rho;
  explicit TestMessages(std::size_t size) : tau(size), rho(size) {}
  MessageArrays arrays() { return {tau.data(), rho.data()}; }
};

}  // namespace

TEST_CASE("multiply: every product of valid messages is a valid message") {
  for (const Natural& a : kMessages)
    for (const Natural& b : kMessages) {
      const Natural product = multiply(a, b);
      INFO("a.tau ", a.tau, ", a.rho ", a.rho, ", b.tau ", b.tau, ", b.rho ", b.rho);
      CHECK(is_valid(product));
      const Natural swapped = multiply(b, a);
      if (!a.is_point() || !b.is_point()) CHECK(product == swapped);
    }
}

TEST_CASE("multiply: a precision beyond the range of a double is the point mass at the mean") {
  const Gaussian sharp = Gaussian::from_moments(1, 1e-308);
  CHECK(sharp * sharp == Gaussian::point(1));
  const Gaussian other = Gaussian::from_moments(1e-100, 1e-308);
  CHECK(Gaussian(other * other).mean() == doctest::Approx(1e-100));
  CHECK(Gaussian(other * other).variance() == 0);
}

TEST_CASE("multiply: arrays agree with messages one by one, also in place, at every length") {
  for (const std::size_t size : {1u, 7u, 16u, 40u, 81u}) {
    TestMessages a(size), b(size), out(size);
    for (std::size_t i = 0; i < size; ++i) {
      a.arrays().set(i, kMessages[i % kMessages.size()]);
      b.arrays().set(i, kMessages[i / kMessages.size() % kMessages.size()]);
    }
    multiply(a.arrays(), b.arrays(), out.arrays(), size);
    for (std::size_t i = 0; i < size; ++i) CHECK(out.arrays()[i] == multiply(a.arrays()[i], b.arrays()[i]));
    multiply(a.arrays(), b.arrays(), a.arrays(), size);
    for (std::size_t i = 0; i < size; ++i) CHECK(out.arrays()[i] == a.arrays()[i]);
  }
}

TEST_CASE("multiply: rows agree with messages one by one") {
  constexpr std::size_t kSize = 9, kRows = 9;
  TestMessages out(kSize), rows(kSize * kRows);
  std::vector<Natural> truth(kSize);
  for (std::size_t row = 0; row < kRows; ++row)
    for (std::size_t i = 0; i < kSize; ++i) {
      const Natural& m = kMessages[(i + row * (i % 3)) % kMessages.size()];
      rows.arrays().set(row * kSize + i, m);
      truth[i] = multiply(truth[i], m);
    }
  multiply_by_rows(out.arrays(), rows.arrays(), kRows, kSize);
  for (std::size_t i = 0; i < kSize; ++i) {
    CAPTURE(i);
    CHECK(is_valid(out.arrays()[i]));
    CHECK(out.arrays()[i].is_point() == truth[i].is_point());
    CHECK(Gaussian(out.arrays()[i]).mean() == doctest::Approx(Gaussian(truth[i]).mean()));
  }
}
