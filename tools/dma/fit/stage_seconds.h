// Seconds of the stages of a fit, in the order in which they began.
#pragma once

#include <algorithm>
#include <chrono>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace dma {

class StageSeconds {
 public:
  // Ends the stage before. A stage that was begun earlier goes on. May be called from any thread.
  void begin(const std::string& stage) {
    const std::lock_guard lock(mutex_);
    if (!stages_.empty() && stages_[now_].first == stage) return;
    end();
    const auto known = std::ranges::find(stages_, stage, &std::pair<std::string, double>::first);
    now_ = static_cast<std::size_t>(known - stages_.begin());
    if (known == stages_.end()) stages_.emplace_back(stage, 0.0);
  }
  std::vector<std::pair<std::string, double>> all() {
    const std::lock_guard lock(mutex_);
    end();
    return stages_;
  }

 private:
  using Clock = std::chrono::steady_clock;
  void end() {
    const Clock::time_point time = Clock::now();
    if (!stages_.empty()) stages_[now_].second += std::chrono::duration<double>(time - since_).count();
    since_ = time;
  }

  std::mutex mutex_;
  std::vector<std::pair<std::string, double>> stages_;
  std::size_t now_ = 0;
  Clock::time_point since_ = Clock::now();
};

}  // namespace dma
