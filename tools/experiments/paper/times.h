// Times of fits, measured one after the other on an otherwise idle process: App. E.2's and G's claims about speed.
#pragma once

#include "tools/experiments/paper/experiment.h"

namespace dma::reproduce {

// Seconds per epoch and per fit of DMA, the default and Adam, on the small network and, with `large`, on the large one.
Json measure_times(const Options& options, bool large);

// The section made of them: times are the only part of the report that differs between two runs of one seed.
Section times_section(const Json& measured);

}  // namespace dma::reproduce
