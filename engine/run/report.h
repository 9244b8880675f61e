// A Report says what a run did, why it stopped and what the answer is worth.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "engine/support/text.h"

namespace dma {

struct PlanData;

// A message of a plan: where something happened. Put into words only when somebody asks.
struct Place {
  std::shared_ptr<const PlanData> plan = nullptr;  // none: nowhere
  std::uint32_t group = 0, port = 0;
  std::uint64_t slot = 0;
  std::string text() const;  // "product3[17].x"
};

// The work of the joint solver (engine/joint), beside the reason in Report::stop: exact for a linear Gaussian graph.
struct JointReport {
  int iterations = 0;    // linear systems solved
  int rejected = 0;      // steps taken back because the objective did not fall
  int refreshes = 0;     // of EP sites
  double objective = 0;  // sum over Gaussian rows of residual^2 / (2 variance), and what sites say
  double gradient =
      0;  // of the objective, the largest in units of the standard deviation each unknown has given the others
  double site_change = 0;         // the largest at the last refresh
  std::string undetermined = {};  // variables that nothing determines: "x[3], z"
  std::string unpredicted = {};   // missing ones below a likelihood that predicts no Gaussian

  // Whether the Gaussian is the posterior (tools/docs/methods.md): by importance weights of draws from it, by where a
  // few steps of a sampler lead from such draws, and by solutions from other starts.
  struct Fit {
    int draws = 0;         // 0: the check was not made
    double k = 0;          // shape of the tail of the weights: below 1/2 their variance is finite
    double effective = 0;  // draws
    std::string why_not = {};
    int chains = 0;       // of a few steps each; 0: none, where weights say enough or steps are too much work
    double moved = 0;     // the largest change of a mean by the steps, in its standard deviations
    double wider = 1;     // a standard deviation after them over the one before: the ratio farthest from 1
    double beyond = 0;    // how many states more than of a Gaussian lie beyond three of them: the largest fraction
    double accepted = 1;  // steps, as a fraction of those that a Gaussian would accept
    std::string farthest = {};  // the unknown that moved or widened most
    double elsewhere = 0;       // the mass of another mode, as a fraction of both
    bool are_weights_good() const;
    bool are_steps_good() const;
    bool is_good() const;  // true if the Gaussian fits
  };
  // The points that unknown parameters were integrated over (JointOptions::hypers).
  struct Hypers {
    int points = 0;
    double effective = 0;  // points
    double largest = 0;    // weight of one of them
  };
  std::optional<Hypers> hypers = {};
  std::optional<Fit> fit = {};  // none: the Gaussian is exact, the run did not converge, or nobody asked
};

struct Report {
  // The worth of the answer; whoever sets one of these can prove it.
  enum class Stop {
    exact,        // one sweep, each message after all it depends on and by an exact message function: the posterior
    approximate,  // one sweep that is not where iterating would end, or a fixed point that misses a mode: see `why`
    converged,    // no message changes by more than the tolerance any more (a single sweep: by anything at all);
                  // approximate on a graph with loops, or by approximate messages, which line() then says
    limit,        // of sweeps, with messages still changing
    interrupted,  // by the caller (RunOptions), with messages still changing
    diverged,     // messages grew without end, left the range of a double, or were refused until the limit
    singular,     // the joint solver: nothing determines some of the variables
  } stop = Stop::converged;
  std::string_view why;  // the answer is approximate
  int sweeps = 0;
  std::uint64_t messages = 0;  // computed
  double change = 0;           // the largest in the last sweep; 0 for a single sweep
  std::uint64_t faults = 0;    // messages refused because they were not valid
  std::uint64_t replaced = 0;  // messages that a method computed another way, because its own was not valid
  Place first_fault;
  int first_fault_sweep = 0;
  // Set for a fixed point on a graph with loops: the plan, which names one of them. Means are exact if all is linear
  // and Gaussian.
  std::shared_ptr<const PlanData> looped = nullptr;
  bool has_exact_means = false;
  // Set for a fixed point of messages that are approximations by themselves: the plan, which names a kind that sends
  // such messages (PlanData::approximating).
  std::shared_ptr<const PlanData> approximated = nullptr;
  // The strongest correlation above kStrong between two elements that one kind of factor joins, which the messages of
  // a fixed point on a graph with loops leave out; 0: there is none.
  static constexpr double kStrong = 0.9;
  double correlation = 0;
  std::array<std::uint32_t, 2> correlated = {};
  double signal_to_noise = -1;  // smallest |mean| / sd arriving at a kind that watches it; -1: there is none
  Place signal_to_noise_at;

  std::optional<JointReport> joint;  // none: by sweeps
  std::string found;                 // by a solver of discrete variables: "27 cliques, ..."; empty: there was none

  bool converged() const { return stop == Stop::exact || stop == Stop::converged; }  // nothing changes any more
  std::string caveat() const;  // why the answer is not the posterior, as far as it is known; empty: nothing is
  static constexpr std::size_t kColumns = 100;
  std::string line() const;  // status, why, and the remedy, within kColumns
  std::string text() const;  // everything, one item per line
};

}  // namespace dma

template <>
struct fmt::formatter<dma::Report> : dma::TextFormatter {
  auto format(const dma::Report& report, format_context& context) const { return write(report.line(), context); }
};
