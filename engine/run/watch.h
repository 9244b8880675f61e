// Decides whether a run may continue: the caller's callback and the time limit.
#pragma once

#include "engine/run/run.h"

namespace dma {

class Watch {
 public:
  explicit Watch(const RunOptions& options) : options_(options) {
    if (options.time) end_ = std::chrono::steady_clock::now() + *options.time;
  }
  // Number of messages within a sweep between two looks at the clock.
  static constexpr std::uint64_t kMessagesBetweenLooks = 4096;

  bool goes_on(const Report& so_far) const { return (!options_.callback || options_.callback(so_far)) && has_time(); }
  bool has_time() const { return !end_ || std::chrono::steady_clock::now() < *end_; }

 private:
  const RunOptions& options_;
  std::optional<std::chrono::steady_clock::time_point> end_;
};

}  // namespace dma
