// What a user waits for before anything is computed: the program itself.
#pragma once

#include <string>

namespace dma::bench {

// `program` is dma. Medians of wall times of `--help` and of predicting one row with a small fitted model.
std::string start_up(const std::string& program);

}  // namespace dma::bench
