#include "engine/learn/gaussian/growing.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "engine/support/shuffle.h"

namespace dma {

namespace {

constexpr int kFirstEpochs = 40;  // a subset costs little, and some data need steps rather than rows
constexpr int kEpochsPerSubset = 10;

}  // namespace

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
