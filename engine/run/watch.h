// Whether a run may go on: what its caller wishes, and the time it has.
#pragma once

#include "engine/run/run.h"

namespace dma {

class Watch {
 public:
  explicit Watch(const RunOptions& options) : options_(options) {
    if (options.time) end_ = std::chrono::steady_clock::now() + *options.time;
  }
  // Within a sweep the clock is looked at after so many messages.
  static constexpr std::uint64_t kMessagesBetweenLooks = 4096;

  bool goes_on(const Report& so_far) const { return (!options_.callback || options_.callback(so_far)) && has_time(); }
  bool has_time() const { return !end_ || std::chrono::steady_clock::now() < *end_; }

 private:
  const RunOptions& options_;
  std::optional<std::chrono::steady_clock::time_point> end_;
};

}  // namespace dma
