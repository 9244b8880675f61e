#include "tools/dma/page/sample.h"

#include <algorithm>
#include <boost/random/uniform_int_distribution.hpp>
#include <numeric>

namespace dma::report {

std::vector<Eigen::Index> shuffled(Eigen::Index count, boost::random::mt19937_64& random) {
  std::vector<Eigen::Index> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), Eigen::Index{0});
  for (std::size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[boost::random::uniform_int_distribution<std::size_t>(0, i - 1)(random)]);
  return order;
}

std::vector<Eigen::Index> sample_rows(Eigen::Index rows, Eigen::Index most, std::uint64_t seed) {
  constexpr std::uint64_t kPurpose = 0xd1b54a32d192ed03;  // its own stream, apart from the seed's other uses
  boost::random::mt19937_64 random(seed ^ kPurpose);
  std::vector<Eigen::Index> order = shuffled(rows, random);
  if (rows > most) order.resize(static_cast<std::size_t>(most));
  std::ranges::sort(order);
  return order;
}

}  // namespace dma::report
