// Networks by messages: what an epoch costs per weight and row, beside a loop written by hand and Adam.
#pragma once

#include <string>

namespace dma::bench {

// Five networks, every way beside the others. The ways run in turns, so that all of them meet the same noise.
std::string networks();
// Networks from two thousand weights to two million: how the time per weight and row depends on their number.
std::string sizes();
// Epochs of one network by `way`: fused, unfused, hand or adam.
void run_epochs(const std::string& name, int count, const std::string& way);

}  // namespace dma::bench
