#include "tools/dma/page/importance.h"

#include <boost/random/mersenne_twister.hpp>
#include <boost/random/uniform_int_distribution.hpp>
#include <cmath>
#include <numeric>

#include "engine/support/parallel.h"
#include "engine/support/shuffle.h"

namespace dma::report {

PermutationImportance permutation_importance(const Eigen::MatrixXd& inputs,
                                             const std::vector<std::vector<Eigen::Index>>& groups, const Loss& loss,
                                             int shuffles, std::uint64_t seed) {
  const auto count = std::ssize(groups);
  PermutationImportance found{loss(inputs), {}};
  const Eigen::Index outputs = found.before.size();
  constexpr std::uint64_t kPurpose = 0x8cb92ba72f3d8dd7;  // its own stream, apart from the seed's other uses
  boost::random::mt19937_64 random(seed ^ kPurpose);
  // Drawn before any thread begins, so that their number changes nothing.
  std::vector<std::vector<Eigen::Index>> orders(groups.size() * static_cast<std::size_t>(shuffles));
  for (std::vector<Eigen::Index>& order : orders) {
    order.resize(static_cast<std::size_t>(inputs.rows()));
    std::iota(order.begin(), order.end(), Eigen::Index{0});
    shuffle(order,
            [&](std::size_t n) { return boost::random::uniform_int_distribution<std::size_t>(0, n - 1)(random); });
  }
  Eigen::MatrixXd rises(count * shuffles, outputs);
  parallel_for(orders.size(), all_processors(), [&](std::size_t task) {
    const auto place = static_cast<Eigen::Index>(task);
    Eigen::MatrixXd changed = inputs;
    const std::vector<Eigen::Index>& group = groups[task / static_cast<std::size_t>(shuffles)];
    changed(Eigen::all, group) = inputs(orders[task], group);
    rises.row(place) = (loss(changed) - found.before).transpose();
  });
  for (Eigen::Index column = 0; column < count; ++column) {
    found.inputs.emplace_back();
    for (Eigen::Index j = 0; j < outputs; ++j) {
      const auto rise = rises.col(j).segment(column * shuffles, shuffles);
      const double mean = rise.mean(), spread = Eigen::VectorXd(rise.array() - mean).stableNorm();
      found.inputs.back().push_back({mean, shuffles > 1 ? spread / std::sqrt(shuffles - 1) : 0});
    }
  }
  return found;
}

}  // namespace dma::report
