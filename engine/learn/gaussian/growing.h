// Many rows, few scalars: most of the way is gone on subsets of the rows, each a data set of its own, doubled until
// half of them; all rows then only refine.
#pragma once

#include "engine/learn/gaussian/fit.h"

namespace dma {

// True if the rows are so many for the scalars that it pays.
bool worth_growing(Index rows, Index outputs, Index scalars);

// Learns on growing random subsets; `state` keeps mean, noise, scale and damping for the epochs on all rows that
// follow. A state that was stopped goes on with its subset. False: stopped.
bool learn_on_subsets(const RowModel& model, const RowData& data, const SharedPrior& prior, SharedFitOptions options,
                      SharedState& state, std::uint64_t seed);

}  // namespace dma
