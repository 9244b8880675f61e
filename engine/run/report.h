// The report of a run: its work, why it stopped, and how good the answer is.
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

// The place of a message in a plan, for reports.
struct Place {
  std::shared_ptr<const PlanData> plan = nullptr;  // null: nowhere
  std::uint32_t group = 0, port = 0;
  std::uint64_t slot = 0;
  std::string text() const;  // "product3[17].x"
};

// The work of the joint solver (engine/joint).
struct JointReport {
  int iterations = 0;             // linear systems solved
  int rejected = 0;               // steps undone because the objective did not fall
  int refreshes = 0;              // refreshes of EP sites
  double objective = 0;           // sum over Gaussian rows of residual^2 / (2 variance), plus the terms of sites
  double gradient = 0;            // largest component of its gradient, in conditional standard deviations
  double site_change = 0;         // largest change of a site at the last refresh
  std::string undetermined = {};  // variables that nothing determines: "x[3], z"
  std::string unpredicted = {};   // missing variables whose likelihood predicts no Gaussian

  // Fit of the Gaussian to the posterior (tools/docs/methods.md): by importance weights of draws from it, by a few
  // steps of a sampler from such draws, and by solutions from other starts.
  struct Fit {
    int draws = 0;         // 0: the check was not made
    double k = 0;          // shape of the tail of the weights: below 1/2 their variance is finite
    double effective = 0;  // effective number of draws
    std::string why_not = {};
    int chains = 0;             // chains of a few steps; 0: draws decided, or steps were too much work
    double moved = 0;           // largest distance of a mean from its belief's, in standard deviations
    double wider = 1;           // standard deviation by draws or steps over the belief's: the ratio farthest from 1
    double beyond = 0;          // largest fraction of states beyond three standard deviations, minus that of a Gaussian
    double accepted = 1;        // fraction of accepted steps, relative to a Gaussian
    std::string farthest = {};  // the element that is off most
    double elsewhere = 0;       // mass of another mode, as a fraction of both
    bool are_weights_good() const;  // true if the weights show that the Gaussian fits
    bool are_steps_good() const;    // true if functions of draws, and steps of the sampler, show it
    bool is_good() const;           // true if the Gaussian fits
  };
  // The integral over unknown parameters (JointOptions::hypers).
  struct Hypers {
    int points = 0;
    double effective = 0;  // effective number of points
    double largest = 0;    // largest weight of a point
  };
  std::optional<Hypers> hypers = {};
  std::optional<Fit> fit = {};  // none: the Gaussian is exact, the run did not converge, or the check was off
};

struct Report {
  // The quality of the answer; code that sets a value can prove it.
  enum class Stop {
    exact,        // the posterior: one sweep of exact messages, each after all it depends on
    approximate,  // one sweep that differs from the end of an iteration, or a fixed point that misses a mode: see `why`
    converged,    // no message changes by more than the tolerance (in a single sweep: none would change); approximate
                  // on a graph with loops or by approximate messages, as line() then says
    limit,        // the limit of sweeps was reached with messages still changing
    interrupted,  // the caller stopped it (RunOptions) with messages still changing
    diverged,     // messages grew without end, left the range of a double, or were refused until the limit
    singular,     // the joint solver: nothing determines some of the variables
  } stop = Stop::converged;
  std::string_view why;  // why the answer is approximate
  int sweeps = 0;
  std::uint64_t messages = 0;  // computed messages
  double change = 0;           // largest change in the last sweep; 0 for a single sweep
  std::uint64_t faults = 0;    // messages refused because they were not valid
  std::uint64_t replaced = 0;  // messages computed another way because the method's own was not valid
  Place first_fault;
  int first_fault_sweep = 0;
  // For a fixed point on a graph with loops: the plan, which names a loop. Means are exact if the graph is linear and
  // Gaussian.
  std::shared_ptr<const PlanData> looped = nullptr;
  bool has_exact_means = false;
  // For a fixed point of approximate messages: the plan, which names a kind that sends them (PlanData::approximating).
  std::shared_ptr<const PlanData> approximated = nullptr;
  // The strongest correlation above kStrong, between two elements that one kind of factor joins, that the messages of a
  // fixed point on a graph with loops ignore; 0: there is none.
  static constexpr double kStrong = 0.9;
  double correlation = 0;
  std::array<std::uint32_t, 2> correlated = {};
  double signal_to_noise = -1;  // smallest |mean| / sd arriving at a kind that watches it; -1: there is none
  Place signal_to_noise_at;

  std::optional<JointReport> joint;  // set by the joint solver
  std::string found;                 // set by solvers of discrete variables: "27 cliques, ..."

  bool converged() const { return stop == Stop::exact || stop == Stop::converged; }  // nothing changes any more
  std::string caveat() const;  // known reasons why the answer is not the posterior; empty: there is none
  static constexpr std::size_t kColumns = 100;
  std::string line() const;  // status, why, and the remedy, within kColumns
  std::string text() const;  // everything, one item per line
};

}  // namespace dma

template <>
struct fmt::formatter<dma::Report> : dma::TextFormatter {
  auto format(const dma::Report& report, format_context& context) const { return write(report.line(), context); }
};
