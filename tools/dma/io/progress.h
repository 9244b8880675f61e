// Lines that show how far a command has come, on a terminal or where they are asked for.
#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "models/network/bnn.h"

namespace dma {

inline constexpr const char* kClearLine = "\r\033[K";

// The epoch after which one of the stopping rules will fire if the log-likelihood goes on as it did: its gains shrink
// by a constant factor an epoch. Nothing before there are gains to compare.
std::optional<int> expected_end(const LearnOptions& options, std::vector<EpochRecord> epochs);

// How far a fit has come, and when it will probably end: not at the limit of epochs, but where the stopping rule is
// expected to fire.
class FitProgress {
 public:
  // `log_scale` is taken off the log-likelihood: from standardised units to those of the data. `ends_by_rule`: the
  // options' rules for the log-likelihood end it; otherwise nothing is known but the limit.
  FitProgress(std::size_t members, const LearnOptions& options, double log_scale, bool ends_by_rule);

  void add(const BnnEpoch& epoch, double seconds);  // since the fit began
  void set(LearnStage stage, double seconds);
  std::string line(double seconds) const;
  std::optional<double> seconds_left(double seconds) const;

 private:
  struct Member {
    std::vector<EpochRecord> epochs;
    std::optional<int> end;
  };
  double fraction_done() const;  // of all that is expected; below 0: not known

  std::vector<Member> members_;
  std::size_t last_ = 0;  // the member that was told of last
  LearnOptions options_;
  double log_scale_;
  bool ends_by_rule_;
  LearnStage stage_;  // of the epoch that is running
  std::optional<double> expected_end_;  // seconds, as the last stage has it
  std::uint64_t faults_ = 0;
  double told_ = 0;  // seconds at the last epoch
  // A resumed fit goes on from here: what was done before took no time in this run.
  std::optional<double> first_fraction_;
  double first_seconds_ = 0;
};

// On a terminal a line that is redrawn after every epoch, and every half second between them; elsewhere, if it is asked
// for, a line every second.
class ProgressBar {
 public:
  enum class Shown { never, on_terminals, always };
  ProgressBar(Shown shown, FitProgress progress);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void show(const BnnEpoch& epoch);
  StageWatch stage_watch();  // to be shown with the next drawing; it may be called as long as the bar is there

 private:
  void draw();
  double seconds() const;

  FitProgress progress_;
  bool is_redrawn_;  // in its place
  std::mutex mutex_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::optional<std::jthread> clock_;  // while it is shown
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

}  // namespace dma
