// Lines that show the progress of a command, on a terminal or on request.
#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "models/network/bnn.h"

namespace dma {

// The progress of a fit and its expected end: as its stages say, otherwise at the latest after the last epoch.
class FitProgress {
 public:
  // `log_scale` is subtracted from the log-likelihood: from standardised units to those of the data. `has_limit`: the
  // fit may reach the limit of epochs.
  FitProgress(std::size_t members, int epochs, double log_scale, bool has_limit)
      : epochs_(members), limit_(epochs), log_scale_(log_scale), has_limit_(has_limit) {}

  void add(const BnnEpoch& epoch, double seconds);  // since the fit began
  void set(LearnStage stage, double seconds);
  std::string line(double seconds) const;

 private:
  double epochs_left() const;
  std::string time_left(double seconds) const;

  std::vector<int> epochs_;  // last epoch of each member
  int limit_;
  double log_scale_;
  bool has_limit_;
  BnnEpoch last_ = {};
  LearnStage stage_;                    // stage of the running epoch
  std::optional<double> expected_end_;  // seconds, as the last stage has it
  std::uint64_t faults_ = 0;
  int run_ = 0;      // epochs of this run: a resumed fit has others
  double told_ = 0;  // seconds at the last of them
};

// On a terminal a line that is redrawn after every epoch and every half second; elsewhere, on request, a line per
// second.
class ProgressBar {
 public:
  enum class Shown { never, on_terminals, always };
  ProgressBar(Shown shown, FitProgress progress);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void show(const BnnEpoch& epoch);
  void show(const LearnStage& stage);  // with the next drawing

 private:
  void draw();
  double seconds() const;

  FitProgress progress_;
  bool is_redrawn_;  // in its place
  std::mutex mutex_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::optional<std::jthread> clock_;  // while it is shown
};

// A line on the terminal, redrawn at most five times a second. May be shown by several threads.
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

}  // namespace dma
