#include "engine/support/shuffle.h"

#include <boost/random/mersenne_twister.hpp>
#include <numeric>

namespace dma {

std::vector<std::ptrdiff_t> random_order(std::ptrdiff_t rows, std::uint64_t seed) {
  std::vector<std::ptrdiff_t> order(static_cast<std::size_t>(rows));
  std::iota(order.begin(), order.end(), std::ptrdiff_t{0});
  boost::random::mt19937_64 random(seed);
  shuffle(order, random_below(random));
  return order;
}

}  // namespace dma
