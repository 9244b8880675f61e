// Progress within an epoch, for callers that display it. No result depends on it.
#pragma once

#include <functional>
#include <string>

namespace dma {

struct LearnStage {
  std::string what;  // the current task; may be empty
  double fraction = 0;  // done of the epoch, or of the pass over all rows
  double seconds_left = -1;  // expected until the end of learning; below 0: unknown
};

// May be called from any thread, some thousand times a second.
using StageWatch = std::function<void(const LearnStage&)>;

}  // namespace dma
