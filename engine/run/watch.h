// Whether a run may go on: what its caller wishes, and the time it has.
#pragma once

#include "engine/run/run.h"

namespace dma {

class Watch {
 public:
  explicit Watch(const RunOptions& options) : options_(options) {
    if (options.time) end_ = std::chrono::steady_clock::now() + *options.time;
  }
  bool goes_on(const Report& so_far) const {
    return (!options_.callback || options_.callback(so_far)) && (!end_ || std::chrono::steady_clock::now() < *end_);
  }

 private:
  const RunOptions& options_;
  std::optional<std::chrono::steady_clock::time_point> end_;
};

}  // namespace dma
