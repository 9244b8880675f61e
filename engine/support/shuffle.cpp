#include "engine/support/shuffle.h"

#include <boost/random/mersenne_twister.hpp>
#include <boost/random/uniform_int_distribution.hpp>
#include <numeric>

namespace dma {

std::vector<std::ptrdiff_t> random_order(std::ptrdiff_t rows, std::uint64_t seed) {
  std::vector<std::ptrdiff_t> order(static_cast<std::size_t>(rows));
  std::iota(order.begin(), order.end(), std::ptrdiff_t{0});
  boost::random::mt19937_64 random(seed);
  shuffle(order, [&](std::size_t n) { return boost::random::uniform_int_distribution<std::size_t>(0, n - 1)(random); });
  return order;
}

}  // namespace dma
