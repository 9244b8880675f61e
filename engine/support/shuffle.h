// Fisher and Yates' shuffle, and the middle of a list.
#pragma once

#include <algorithm>
#include <boost/random/uniform_int_distribution.hpp>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

namespace dma {

// `below(n)` is a random number of 0 to n - 1, as likely as any other.
template <class List, class Below>
void shuffle(List& list, const Below& below) {
  for (std::size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[below(i)]);
}

// Such numbers from a generator.
template <class Random>
auto random_below(Random& random) {
  return [&random](std::size_t n) { return boost::random::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
}

// The numbers 0 to rows - 1, shuffled by the seed.
std::vector<std::ptrdiff_t> random_order(std::ptrdiff_t rows, std::uint64_t seed);

// The larger of the two of an even number.
template <class List>
double median(const List& list) {
  std::vector<double> values(list.begin(), list.end());
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace dma
