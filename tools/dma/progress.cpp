#include "tools/dma/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>

#include "engine/support/whole_number.h"
#include "tools/dma/standard_streams.h"

namespace dma {

namespace {

std::string duration(double seconds) {
  const auto whole = whole_number(std::ceil(seconds), 0L, 99L * 3600);
  if (whole >= 3600) return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

}  // namespace

std::string progress_line(const BnnEpoch& epoch, std::size_t members, int epochs, double log_likelihood,
                          std::uint64_t faults, double seconds_left) {
  constexpr int kWidth = 20;
  const int filled = kWidth * epoch.record.epoch / epochs;
  const std::string network = members > 1 ? fmt::format("network {}/{}, ", epoch.member + 1, members) : "";
  return fmt::format("[{:#<{}}{:.<{}}] {}epoch {}/{}  log-likelihood {:.4f}  faults {}  at most {} left", "", filled,
                     "", kWidth - filled, network, epoch.record.epoch, epochs, log_likelihood, faults,
                     duration(seconds_left));
}

ProgressLine::ProgressLine() : shown_(isatty(STDERR_FILENO)) {}

ProgressLine::~ProgressLine() {
  if (shown_) dma::show(kClearLine);
}

void ProgressLine::show(const std::string& text) {
  using namespace std::chrono_literals;
  if (!shown_) return;
  const std::lock_guard lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  if (now - last_ < 200ms) return;
  last_ = now;
  dma::show(kClearLine + text);
}

ProgressBar::ProgressBar(bool shown, std::size_t members, int epochs, double log_scale)
    : shown_(shown && isatty(STDERR_FILENO)), members_(members), epochs_(epochs), log_scale_(log_scale) {}

ProgressBar::~ProgressBar() {
  if (shown_) dma::show(kClearLine);
}

void ProgressBar::show(const BnnEpoch& epoch) {
  if (!shown_) return;
  if (!first_member_) {
    first_member_ = epoch.member;
    epochs_before_ = epoch.record.epoch - 1;
  }
  faults_ += epoch.record.faults;
  const int timed = epoch.record.epoch - (epoch.member == *first_member_ ? epochs_before_ : 0);
  const double per_epoch = epoch.record.seconds / timed;
  // How early each member will stop is not known, so this is an upper bound.
  const double left =
      per_epoch * (epochs_ - epoch.record.epoch + static_cast<double>(members_ - 1 - epoch.member) * epochs_);
  dma::show(kClearLine +
            progress_line(epoch, members_, epochs_, epoch.record.log_likelihood - log_scale_, faults_, left));
}

}  // namespace dma
