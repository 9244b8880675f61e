// What a run did and why it stopped.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace dma {

struct PlanData;

// A message of a plan: where something happened. Put into words only when somebody asks.
struct Place {
  std::shared_ptr<const PlanData> plan = nullptr;  // none: nowhere
  std::uint32_t group = 0, port = 0;
  std::uint64_t slot = 0;
  std::string text() const;  // "product3[17].x"
};

struct Report {
  // What the answer is worth; whoever sets one of these can prove it.
  enum class Stop {
    exact,        // one sweep, each message after all it depends on and by an exact message function: the posterior
    approximate,  // one sweep whose messages are not those that iterating would end with; `why` says why
    converged,    // no message changes by more than the tolerance any more (a single sweep: by anything at all)
    limit,        // of sweeps, with messages still changing
    diverged,     // messages grew without end, left the range of a double, or were refused until the limit
  } stop = Stop::converged;
  std::string_view why;             // of an approximate answer
  int sweeps = 0;
  std::uint64_t messages = 0;       // computed
  double change = 0;                // the largest in the last sweep; 0 for a single sweep
  std::uint64_t faults = 0;         // messages refused because they were not valid
  std::uint64_t replaced = 0;       // messages that a method computed another way, because its own was not valid
  Place first_fault;
  int first_fault_sweep = 0;
  double signal_to_noise = -1;      // smallest |mean| / sd arriving at a kind that watches it; -1: there is none
  Place signal_to_noise_at;

  bool converged() const { return stop == Stop::exact || stop == Stop::converged; }
  std::string line() const;  // everything that matters, in one line
  std::string text() const;  // one item a line
};

}  // namespace dma

template <>
struct fmt::formatter<dma::Report> : fmt::formatter<std::string_view> {
  auto format(const dma::Report& report, format_context& context) const {
    return fmt::formatter<std::string_view>::format(report.line(), context);
  }
};
