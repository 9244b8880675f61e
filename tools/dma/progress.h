// Lines that show how far a command has come; only on a terminal.
#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <string>

#include "models/bnn.h"

namespace dma {

inline constexpr const char* kClearLine = "\r\033[K";

class ProgressBar {
 public:
  // `log_scale` is taken off the log-likelihood: from standardised units to those of the data.
  ProgressBar(bool shown, std::size_t members, int epochs, double log_scale);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void show(const BnnEpoch& epoch);

 private:
  bool shown_;
  std::size_t members_;
  int epochs_;
  double log_scale_;
  std::uint64_t faults_ = 0;
  // Where a resumed fit goes on: the epochs before it took no time in this run.
  std::optional<std::size_t> first_member_ = {};
  int epochs_before_ = 0;
};

// A line that says what is being done, redrawn at most a few times a second. From several threads.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(const std::string& text);

 private:
  const bool shown_;
  std::mutex mutex_;
  std::chrono::steady_clock::time_point last_ = {};
};

// The line itself.
std::string progress_line(const BnnEpoch& epoch, std::size_t members, int epochs, double log_likelihood,
                          std::uint64_t faults, double seconds_left);

}  // namespace dma
