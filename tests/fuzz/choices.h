// The random choices of a fuzz target: drawn from a seed, or from the bytes of a fuzzer.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/kinds/kind.h"

namespace dma::fuzz {

class Choices {
 public:
  explicit Choices(std::uint64_t seed) : state_(seed) {}
  // Zeros after the last byte.
  explicit Choices(std::span<const std::uint8_t> bytes) : bytes_(bytes), from_bytes_(true) {}

  std::uint64_t bits() {
    if (from_bytes_) return take(8);
    std::uint64_t x = state_ += 0x9e3779b97f4a7c15;  // splitmix64
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }
  std::size_t below(std::size_t bound) {
    return static_cast<std::size_t>((from_bytes_ ? take(bound <= 256 ? 1 : 4) : bits()) % bound);
  }
  std::size_t between(std::size_t low, std::size_t high) { return low + below(high - low + 1); }
  bool one_in(std::size_t n) { return below(n) == 0; }
  double unit() { return static_cast<double>(bits() >> 11) * 0x1p-53; }

  template <class List>
  auto& any_of(List& list) {
    return list[below(std::size(list))];
  }
  template <class List>
  const auto& any_of(const List& list) {
    return list[below(std::size(list))];
  }

  // Every finite double, each exponent as likely as any other.
  double extreme() {
    std::uint64_t b = bits();
    constexpr std::uint64_t kExponent = 0x7ff0000000000000;
    if ((b & kExponent) == kExponent) b &= ~0x4000000000000000ull;
    return std::bit_cast<double>(b);
  }
  // A number of the size that models have: within 1e-3 to 1e3, or 0.
  double ordinary() {
    const std::uint64_t b = bits();
    if (b % 16 == 0) return 0;
    return (b & 16 ? 1 : -1) * std::exp(13.8 * static_cast<double>(b >> 11) * 0x1p-53 - 6.9);
  }
  double number() { return one_in(4) ? extreme() : ordinary(); }

  // K numbers that sum to one, some of them 0 unless all must be positive.
  std::vector<double> probabilities(std::size_t categories, bool positive) {
    std::vector<double> numbers(categories);
    for (double& number : numbers) number = !positive && one_in(5) ? 0 : std::exp(-8 * unit());
    double sum = std::accumulate(numbers.begin(), numbers.end(), 0.0);
    if (sum == 0) sum = numbers[below(categories)] = 1;
    for (double& number : numbers) number /= sum;
    return numbers;
  }
  // `rows` such rows.
  std::vector<double> table(std::size_t rows, std::size_t categories, bool positive) {
    std::vector<double> numbers;
    for (; rows > 0; --rows) std::ranges::copy(probabilities(categories, positive), std::back_inserter(numbers));
    return numbers;
  }

  // Any valid message.
  Natural message() {
    switch (below(16)) {
      case 0: return {};
      case 1: return {extreme(), kInfinity};
      case 2: return {one_in(2) ? 0 : ordinary(), kInfinity};
      case 3: case 4: case 5: case 6: return positive({extreme(), std::abs(extreme())});
      case 7: return positive({ordinary(), std::abs(extreme())});
      default: return positive({ordinary(), std::abs(ordinary())});
    }
  }

  // A value within the domain, often at its edges.
  double inside(const Domain& domain) {
    if (!domain.only.empty()) return any_of(domain.only);
    for (int attempt = 0; attempt < 20; ++attempt) {
      double value = number();
      if (one_in(4)) value = one_in(2) ? domain.low : domain.high;
      if (one_in(2)) value = std::abs(value);
      if (domain.high <= 1 && domain.low >= 0 && one_in(2)) value = unit();
      if (domain.contains(value)) return value;
    }
    return domain.contains(1) ? 1 : 0.5;
  }

 private:
  static Natural positive(const Natural& m) { return m.rho > 0 ? m : Natural{}; }
  std::uint64_t take(std::size_t count) {
    std::uint64_t value = 0;
    for (; count > 0 && !bytes_.empty(); --count) {
      value = (value << 8) | bytes_[0];
      bytes_ = bytes_.subspan(1);
    }
    return value;
  }

  std::uint64_t state_ = 0;
  std::span<const std::uint8_t> bytes_ = {};
  bool from_bytes_ = false;
};

// A text with random changes: parts changed, left out, repeated, moved, or replaced by typical trouble makers.
std::string mutated(std::string text, Choices& choices);

// A model file with changed members, elements, numbers or texts, and a valid checksum.
std::string damaged(std::string_view model, Choices& choices);

}  // namespace dma::fuzz
