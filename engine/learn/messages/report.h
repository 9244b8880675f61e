// The report of learning: its epochs, and why it stopped.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/learn/messages/options.h"

namespace dma {

struct EpochRecord {
  int epoch = 0;
  double log_likelihood = 0;     // mean over all learned examples and elements of the targets, after the epoch
  double seconds = 0;            // since learning began
  std::uint64_t faults = 0;      // messages refused in this epoch
  std::uint64_t replaced = 0;    // messages refused and computed another way, see Report
  std::uint64_t unfinished = 0;  // examples whose iteration ended before it converged
};
void list_fields(Fields& f, EpochRecord& record);  // all but the seconds, which differ from run to run

struct LearnReport {
  enum class Stop { tolerance, patience, limit, interrupted, least_gain, diverged } stop = Stop::limit;
  std::vector<EpochRecord> epochs;
  std::uint64_t faults = 0, replaced = 0;
  std::string line() const;
};
std::string_view name_of(LearnReport::Stop stop);     // in one word
LearnReport::Stop stop_named(std::string_view name);  // its inverse

// The stopping rule that fires after these epochs, if any.
std::optional<LearnReport::Stop> stop_reason(const LearnOptions& options, const std::vector<EpochRecord>& epochs);

}  // namespace dma
