// Wall time to the end, not of an epoch: the fit of the paper's two networks until its stopping rule, and Adam until it
// explains the same rows as well.
#pragma once

#include <string>

namespace dma::bench {

std::string to_the_end();

}  // namespace dma::bench
