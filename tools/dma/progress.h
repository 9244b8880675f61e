// A line that shows how far a fit has come, redrawn after every epoch; only on a terminal.
#pragma once

#include <optional>
#include <string>

#include "models/bnn.h"

namespace dma {

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

// The line itself.
std::string progress_line(const BnnEpoch& epoch, std::size_t members, int epochs, double log_likelihood,
                          std::uint64_t faults, double seconds_left);

}  // namespace dma
