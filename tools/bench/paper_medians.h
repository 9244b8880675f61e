// Quality next to speed: the paper's small regression task over many seeds.
#pragma once

#include <string>

namespace dma::bench {

// Medians over `seeds` data sets and networks of the 8-6-5-1 task (tolerance 0.1, 10 batches, at most 200 epochs), one
// line each beside what plain loops over the same formulas gave (20 to 40 seeds) and the paper's own figure.
std::string paper_medians(int seeds);

}  // namespace dma::bench
