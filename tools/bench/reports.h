// What dma_bench prints beside its comparisons: text of measurements that are no ratio of two loops.
#pragma once

#include <string>

namespace dma::bench {

// Networks from two thousand weights to two million: how the time for a weight and a row depends on their number.
std::string sizes();

// What a user waits for before anything is computed: the program itself.
// `program` is dma. Medians of wall times of `--help` and of predicting one row with a small fitted model.
std::string start_up(const std::string& program);

// Wall time to the end, not of an epoch: the fit of the paper's two networks until its stopping rule, and Adam until it
// explains the same rows as well.
std::string to_the_end();

}  // namespace dma::bench
