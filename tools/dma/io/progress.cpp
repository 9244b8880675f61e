#include "tools/dma/io/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <numeric>

#include "engine/support/signals.h"
#include "engine/support/whole_number.h"
#include "tools/dma/io/standard_streams.h"

namespace dma {

namespace {

constexpr const char* kClearLine = "\r\033[K";

std::string duration(double seconds) {
  const auto whole = whole_number(std::ceil(seconds), 0L, 99L * 3600);
  if (whole >= 3600) return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

}  // namespace

void FitProgress::set(LearnStage stage, double seconds) {
  stage_ = std::move(stage);
  if (stage_.seconds_left >= 0) expected_end_ = seconds + stage_.seconds_left;
}

void FitProgress::add(const BnnEpoch& epoch, double seconds) {
  last_ = epoch;
  stage_ = {};
  if (epoch.member >= epochs_.size()) epochs_.resize(epoch.member + 1);
  epochs_[epoch.member] = epoch.record.epoch;
  faults_ += epoch.record.faults;
  ++run_;
  told_ = seconds;
}

double FitProgress::epochs_left() const {
  const double done = std::accumulate(epochs_.begin(), epochs_.end(), 0.0);
  return std::max(0.0, static_cast<double>(limit_) * static_cast<double>(epochs_.size()) - done);
}

std::string FitProgress::time_left(double seconds) const {
  if (expected_end_) return fmt::format(", about {} left", duration(std::max(0.0, *expected_end_ - seconds)));
  if (!has_limit_ || run_ == 0) return {};
  const double left = told_ / run_ * epochs_left() - (seconds - told_);
  return fmt::format(", at most {} left", duration(std::max(0.0, left)));
}

std::string FitProgress::line(double seconds) const {
  constexpr int kWidth = 20;
  const int epoch = last_.record.epoch;
  const double all = static_cast<double>(limit_) * static_cast<double>(epochs_.size());
  const int filled = whole_number(kWidth * (1 - epochs_left() / all), 0, kWidth);
  std::string text = fmt::format("[{:#<{}}{:.<{}}] ", "", filled, "", kWidth - filled);
  if (epochs_.size() > 1) text += fmt::format("network {}/{}, ", last_.member + 1, epochs_.size());
  text += epoch == 0 ? std::string("first epoch") : fmt::format("epoch {}", epoch);
  if (!stage_.what.empty() || stage_.fraction > 0)
    text += fmt::format("{} {}{}{:.0f} %", epoch == 0 ? ":" : ", next:", stage_.what, stage_.what.empty() ? "" : " ",
                        100 * stage_.fraction);
  if (epoch > 0)
    text += fmt::format("  log-likelihood {:.4f}  faults {}", last_.record.log_likelihood - log_scale_, faults_);
  return text + fmt::format("  {} so far{}", duration(seconds), time_left(seconds));
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

ProgressBar::ProgressBar(Shown shown, FitProgress progress)
    : progress_(std::move(progress)), is_redrawn_(isatty(STDERR_FILENO) != 0) {
  using namespace std::chrono_literals;
  if (shown == Shown::never || (shown == Shown::on_terminals && !is_redrawn_)) return;
  clock_ = begin_thread([this](const std::stop_token& stop) {
    std::mutex waiting;
    std::condition_variable_any sooner;
    std::unique_lock lock(waiting);
    while (!sooner.wait_for(lock, stop, is_redrawn_ ? 500ms : 1000ms, [&] { return stop.stop_requested(); })) {
      const std::lock_guard drawing(mutex_);
      draw();
    }
  });
  if (!clock_) return;
  const std::lock_guard drawing(mutex_);
  draw();
}

ProgressBar::~ProgressBar() {
  if (!clock_) return;
  clock_.reset();
  if (is_redrawn_) dma::show(kClearLine);
}

void ProgressBar::draw() {
  const std::string line = progress_.line(seconds());
  dma::show(is_redrawn_ ? kClearLine + line : line + "\n");
}

double ProgressBar::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void ProgressBar::show(const LearnStage& stage) {
  if (!clock_) return;
  const std::lock_guard drawing(mutex_);
  progress_.set(stage, seconds());
}

void ProgressBar::show(const BnnEpoch& epoch) {
  if (!clock_) return;
  const std::lock_guard drawing(mutex_);
  progress_.add(epoch, seconds());
  if (is_redrawn_) draw();
}

}  // namespace dma
