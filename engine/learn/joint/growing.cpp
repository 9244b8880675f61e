#include "engine/learn/joint/growing.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/uniform_int_distribution.hpp>
#include <numeric>
#include <vector>

namespace dma {

namespace {

constexpr int kFirstEpochs = 40;  // a subset costs little, and some data need steps rather than rows
constexpr int kEpochsPerSubset = 10;

}  // namespace

std::vector<Index> random_order(Index rows, std::uint64_t seed) {
  std::vector<Index> order(static_cast<std::size_t>(rows));
  std::iota(order.begin(), order.end(), Index{0});
  boost::random::mt19937_64 random(seed);
  for (std::size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[boost::random::uniform_int_distribution<std::size_t>(0, i - 1)(random)]);
  return order;
}

bool worth_growing(Index rows, Index outputs, Index scalars) { return rows * outputs > 8 * scalars; }

bool learn_on_subsets(const RowModel& model, const RowData& data, const SharedPrior& prior, SharedFitOptions options,
                      SharedState& state, std::uint64_t seed) {
  const Index rows = data.rows.rows(), outputs = data.targets.cols();
  const auto order = random_order(rows, seed);
  bool going_on = true;
  options.on_epoch = [&going_on, asked = options.on_epoch](const SharedEpoch& epoch) {
    return going_on = !asked || asked(epoch);
  };
  const Index first = std::max<Index>(1, model.scalars() / outputs);
  for (Index size = first; size <= rows / 2; size *= 2) {
    if (size < state.subset) continue;
    const std::vector<Index> some(order.begin(), order.begin() + size);
    const RowData subset = data.some(some);
    const auto curvature = make_primal();
    curvature->use_threads(options.jobs, options.team);
    if (options.on_stage)
      curvature->watch([&](double fraction) {
        options.on_stage({fmt::format("{} of {} rows", size, rows), fraction});
      });
    if (size != state.subset) state.begin_stage();
    state.subset = size;
    options.epochs = state.watch.first + (size == first ? kFirstEpochs : kEpochsPerSubset);
    fit_shared(model, subset, prior, options, state, *curvature);
    if (!going_on) return false;
  }
  state.subset = 0;
  return true;
}

}  // namespace dma
