// Where learning stands between the epochs that it reports: for who watches. No result depends on it.
#pragma once

#include <functional>
#include <string>

namespace dma {

struct LearnStage {
  std::string what;  // is being done; may be empty
  double fraction = 0;  // of the epoch, or of the pass over all rows, that is running
  double seconds_left = -1;  // until all is learned, as is expected now; below 0: nothing is known
};

// May be called from any thread, some thousand times a second.
using StageWatch = std::function<void(const LearnStage&)>;

}  // namespace dma
