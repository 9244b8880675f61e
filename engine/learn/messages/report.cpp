#include "engine/learn/messages/learner.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/support/fields.h"
#include "engine/support/text.h"

namespace dma {

std::string LearnReport::line() const {
  constexpr std::string_view kReasons[] = {
      "the log-likelihood settled", "the log-likelihood no longer improved",   "the limit of epochs was reached",
      "it was interrupted",         "the log-likelihood hardly rose any more", "the log-likelihood is not a number"};
  const EpochRecord last = epochs.empty() ? EpochRecord{} : epochs.back();
  std::string text =
      fmt::format("stopped after epoch {} because {}: train log-likelihood {:.4f}, {} messages refused, {} replaced",
                  last.epoch, kReasons[static_cast<int>(stop)], last.log_likelihood, faults, replaced);
  if (last.unfinished > 0) text += fmt::format(", {} examples not iterated to the end", last.unfinished);
  return text;
}

namespace {

constexpr std::array<std::string_view, 6> kStops = {"tolerance",   "patience",   "limit",
                                                    "interrupted", "least_gain", "diverged"};

}  // namespace

std::string_view name_of(LearnReport::Stop stop) { return kStops[static_cast<std::size_t>(stop)]; }

LearnReport::Stop stop_named(std::string_view name) {
  const auto found = std::ranges::find(kStops, name);
  if (found == kStops.end()) fail("'{}' is no reason to stop", name);
  return static_cast<LearnReport::Stop>(found - kStops.begin());
}

void list_fields(Fields& f, EpochRecord& e) {
  f("epoch", e.epoch);
  f("log_likelihood", e.log_likelihood);
  f("faults", e.faults);
  f("replaced", e.replaced);
}

std::optional<LearnReport::Stop> stop_reason(const LearnOptions& options, const std::vector<EpochRecord>& epochs) {
  if (!epochs.empty() && std::isnan(epochs.back().log_likelihood)) return LearnReport::Stop::diverged;
  if (epochs.size() >= 2) {
    const double before = epochs[epochs.size() - 2].log_likelihood, now = epochs.back().log_likelihood;
    constexpr double kFloor = 1e-3;
    if (std::abs(now - before) / std::max(kFloor, std::abs(before)) < options.tolerance)
      return LearnReport::Stop::tolerance;
  }
  if (options.patience > 0 && !epochs.empty()) {
    const auto best = std::ranges::max_element(epochs, {}, &EpochRecord::log_likelihood);
    if (epochs.end() - best > options.patience) return LearnReport::Stop::patience;
  }
  constexpr std::size_t kGainEpochs = 10;
  if (options.least_gain > 0 && epochs.size() > kGainEpochs) {
    const double gain = epochs.back().log_likelihood - epochs[epochs.size() - 1 - kGainEpochs].log_likelihood;
    if (gain < options.least_gain * kGainEpochs) return LearnReport::Stop::least_gain;
  }
  if (static_cast<int>(epochs.size()) >= options.epochs) return LearnReport::Stop::limit;
  return {};
}

}  // namespace dma
