#include "tools/dma/io/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <condition_variable>

#include "engine/support/signals.h"
#include "engine/support/whole_number.h"
#include "tools/dma/io/standard_streams.h"

namespace dma {

namespace {

std::string duration(double seconds) {
  const auto whole = whole_number(std::ceil(seconds), 0L, 99L * 3600);
  if (whole >= 3600) return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

}  // namespace

std::optional<int> expected_end(const LearnOptions& options, std::vector<EpochRecord> epochs) {
  constexpr std::size_t kGainsCompared = 8;          // at most: the course of long ago is no guide
  constexpr double kFastest = 0.3, kSlowest = 0.98;  // factors on the gain of an epoch
  constexpr std::size_t kLookAhead = 2000;  // epochs: a gain shrunk that often is 0 to every rule that has a limit
  if (stop_reason(options, epochs)) return static_cast<int>(epochs.size());
  if (epochs.size() < 3) return {};
  const std::size_t size = epochs.size(), half = std::min(kGainsCompared, size - 1) / 2;
  const auto mean_gain = [&](std::size_t first, std::size_t last) {  // of the epochs [first, last)
    return (epochs[last - 1].log_likelihood - epochs[first - 1].log_likelihood) / static_cast<double>(last - first);
  };
  const double earlier = std::abs(mean_gain(size - 2 * half, size - half)), later = mean_gain(size - half, size);
  double factor = std::pow(std::abs(later) / earlier, 1 / static_cast<double>(half));
  if (!(factor > kFastest)) factor = kFastest;  // or no number
  factor = std::min(factor, kSlowest);
  // The mean is that of the epoch in the middle of them.
  for (double gain = later * std::pow(factor, 0.5 * static_cast<double>(half - 1)); !stop_reason(options, epochs);) {
    if (epochs.size() == size + kLookAhead) return options.epochs;
    gain *= factor;
    EpochRecord next = epochs.back();
    ++next.epoch;
    next.log_likelihood += gain;
    epochs.push_back(next);
  }
  return static_cast<int>(epochs.size());
}

FitProgress::FitProgress(std::size_t members, const LearnOptions& options, double log_scale, bool ends_by_rule)
    : members_(std::max<std::size_t>(1, members)),
      options_(options),
      log_scale_(log_scale),
      ends_by_rule_(ends_by_rule) {}

void FitProgress::set(LearnStage stage, double seconds) {
  stage_ = std::move(stage);
  if (stage_.seconds_left >= 0) expected_end_ = seconds + stage_.seconds_left;
}

void FitProgress::add(const BnnEpoch& epoch, double seconds) {
  last_ = epoch.member;
  stage_ = {};
  if (last_ >= members_.size()) members_.resize(last_ + 1);
  Member& member = members_[last_];
  member.epochs.push_back(epoch.record);
  faults_ += epoch.record.faults;
  told_ = seconds;
  if (!ends_by_rule_) return;
  // Epochs before a fit was resumed are not told: a course with a gap in front is one all the same.
  const int not_told = epoch.record.epoch - static_cast<int>(member.epochs.size());
  LearnOptions own = options_;
  own.epochs -= not_told;
  member.end = expected_end(own, member.epochs);
  if (member.end) *member.end += not_told;
  if (const double fraction = fraction_done(); fraction >= 0 && !first_fraction_)
    first_fraction_ = fraction, first_seconds_ = seconds;
}

double FitProgress::fraction_done() const {
  double done = 0;
  for (const Member& member : members_) {
    if (member.epochs.empty()) continue;
    if (!member.end) return -1;
    done += std::min(1.0, static_cast<double>(member.epochs.back().epoch) / *member.end);
  }
  return done > 0 ? done / static_cast<double>(members_.size()) : -1;
}

std::optional<double> FitProgress::seconds_left(double seconds) const {
  if (expected_end_) return std::max(0.0, *expected_end_ - seconds);
  const double fraction = fraction_done();
  if (!first_fraction_ || !(fraction > *first_fraction_)) return {};
  const double left_then = (told_ - first_seconds_) * (1 - fraction) / (fraction - *first_fraction_);
  return std::max(0.0, left_then - (seconds - told_));
}

std::string FitProgress::line(double seconds) const {
  constexpr int kWidth = 20;
  const std::vector<EpochRecord>& epochs = members_[last_].epochs;
  const int done = epochs.empty() ? 0 : epochs.back().epoch;
  const double fraction = ends_by_rule_ ? fraction_done() : static_cast<double>(done) / options_.epochs;
  const int filled = whole_number(kWidth * fraction, 0, kWidth);
  std::string text = fmt::format("[{:#<{}}{:.<{}}] ", "", filled, "", kWidth - filled);
  if (members_.size() > 1) text += fmt::format("network {}/{}, ", last_ + 1, members_.size());
  text += epochs.empty() ? std::string("first epoch") : fmt::format("epoch {}", done);
  if (!stage_.what.empty() || stage_.fraction > 0)
    text += fmt::format("{} {}{}{:.0f} %", epochs.empty() ? ":" : ", next:", stage_.what,
                        stage_.what.empty() ? "" : " ", 100 * stage_.fraction);
  if (!epochs.empty())
    text += fmt::format("  log-likelihood {:.4f}  faults {}", epochs.back().log_likelihood - log_scale_, faults_);
  text += fmt::format("  {} so far", duration(seconds));
  if (const auto left = seconds_left(seconds)) text += fmt::format(", about {} left", duration(*left));
  return text;
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

StageWatch ProgressBar::stage_watch() {
  if (!clock_) return {};
  return [this](const LearnStage& stage) {
    const std::lock_guard drawing(mutex_);
    progress_.set(stage, seconds());
  };
}

void ProgressBar::show(const BnnEpoch& epoch) {
  if (!clock_) return;
  const std::lock_guard drawing(mutex_);
  progress_.add(epoch, seconds());
  if (is_redrawn_) draw();
}

}  // namespace dma
