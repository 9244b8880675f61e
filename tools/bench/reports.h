// What dma_bench prints beside its comparisons: text of measurements that are no ratio of two loops.
#pragma once

#include <string>

namespace dma::bench {

// What networks have learned, with all digits: for who compares two builds.
std::string numbers();

// Quality next to speed: the paper's small regression task over many seeds.
// Medians over `seeds` data sets and networks of the 8-6-5-1 task (tolerance 0.1, 10 batches, at most 200 epochs), one
// line each beside what plain loops over the same formulas gave (20 to 40 seeds) and the paper's own figure.
std::string paper_medians(int seeds);

// Networks from two thousand weights to two million: how the time for a weight and a row depends on their number.
std::string sizes();

// What a user waits for before anything is computed: the program itself.
// `program` is dma. Medians of wall times of `--help` and of predicting one row with a small fitted model.
std::string start_up(const std::string& program);

// Wall time to the end, not of an epoch: the fit of the paper's two networks until its stopping rule, and Adam until it
// explains the same rows as well.
std::string to_the_end();

}  // namespace dma::bench
