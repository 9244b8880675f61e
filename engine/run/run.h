// run/: State, the loops that walk a plan, Report. May include compile/ and what lies below it.
//
// Runs a plan on a state. Allocates nothing and looks nothing up; never throws from a kernel.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/compile/compile.h"
#include "engine/graph/graph.h"
#include "engine/messages/family.h"
#include "engine/messages/gaussian.h"
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

// The report of a run: its work, why it stopped, and how good the answer is.
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

namespace dma {

class SolverMemory;
struct RunOptions;

struct StateData;  // private: state_data.h

// All data that change while a plan runs: observed values, messages, parameters.
class State {
 public:
  explicit State(Plan plan);
  // For a plan whose graph has grown since `before` was run: copies the observed values, cavities and messages of
  // factors that exist in both, so that a warm run has to compute only the new part. Parameters are the plan's.
  State(Plan plan, const State& before);
  ~State();
  State(State&&) noexcept;
  State& operator=(State&&) noexcept;
  State(const State&) = delete;  // see copy()
  State& operator=(const State&) = delete;

  // Sets the value of an observed variable: one finite number per element.
  void observe(VariableId variable, std::span<const double> values);
  void observe(VariableId variable, std::initializer_list<double> values) {
    observe(variable, std::span(values.begin(), values.size()));
  }
  void observe(VariableId variable, double value);  // the same number for every element

  // A missing value is unknown in this run. Sweeps then need CompileOptions::may_be_missing if it joins several
  // factors.
  void observe(VariableId variable, std::span<const std::optional<double>> values);
  void observe(VariableId variable, std::initializer_list<std::optional<double>> values) {
    observe(variable, std::span(values.begin(), values.size()));
  }
  void observe(VariableId variable, std::nullopt_t);  // all elements are missing
  // One element is missing; the others must have values.
  void observe_missing(VariableId variable, std::size_t element = 0);
  bool is_missing(VariableId variable, std::size_t element = 0) const;  // see observe_missing
  bool is_given(VariableId variable) const;                             // true if an observed variable has its values

  // One value for all slots, or one per slot. Checked against the domain. Affects this factor only.
  void set_parameter(FactorId factor, std::string_view parameter, std::span<const double> values);
  void set_parameter(FactorId factor, std::string_view parameter, double value) {
    set_parameter(factor, parameter, std::span(&value, 1));
  }

  // Sets the table of a port connected by given(): one element of its variable per (slot, term). It stays until another
  // one is set.
  void set_table(FactorId factor, std::string_view port, std::span<const std::uint32_t> elements);
  void set_table(FactorId factor, std::string_view port, std::initializer_list<std::uint32_t> elements) {
    set_table(factor, port, std::span(elements.begin(), elements.size()));
  }

  // The product of all messages at a variable. For an observed variable whose value is missing: its prediction.
  Belief belief(VariableId variable) const;
  // The messages of a factor to one of its ports, slot by slot.
  std::vector<Gaussian> messages(FactorId factor, std::string_view port) const;

  // Freezes a variable: messages to it stay unchanged in later runs, fresh or warm, and so do its own. Its belief is
  // not the posterior of such a run, and evidence is refused.
  void freeze(VariableId variable);
  void thaw(VariableId variable);              // lets a frozen variable learn again
  bool is_frozen(VariableId variable) const;   // see freeze
  std::span<const VariableId> frozen() const;  // all frozen variables

  // Cavity of a shared variable: a message that no operation writes (see learn.h).
  MessageArrays cavity(VariableId shared_variable);
  // Makes all messages uniform, except values, cavities, constants and those at frozen variables.
  void reset();

  // An independent copy for the same plan. The solver's memory is created anew.
  State copy() const;

  const Plan& plan() const { return plan_; }  // plan that it was made for
  // True if all message functions are exact for the values given now.
  bool has_exact_messages() const;
  // Result of the last run; empty before the first run, and after any input has changed.
  std::optional<Report::Stop> ended() const { return ended_; }
  // The memory of the plan's solver; null for sweeps.
  SolverMemory* solver_memory() const;
  const StateData& data() const { return *data_; }  // all numbers, for schedules of one's own

 private:
  friend class Executor;
  friend class Diagnosis;
  friend Report run(const Plan& plan, State& state, const RunOptions& options);

  void refuse_values(VariableId variable, std::span<const double> values) const;  // throws

  Plan plan_;
  std::unique_ptr<StateData> data_;
  std::optional<Report::Stop> ended_;
};

struct RunOptions {
  // Start from the messages in the state instead of uniform ones (iterative schedules only).
  bool warm = false;
  // After the run, look for contradicting point masses and the smallest signal-to-noise ratio: one pass over all
  // messages.
  bool diagnose = true;
  // Called with the report so far, after every sweep of an iterative schedule and every linear system of joint;
  // returning false stops the run with Report::Stop::interrupted. A warm run can continue from there.
  std::function<bool(const Report&)> callback = {};
  // Stops the run after this time, as if the callback had returned false.
  std::optional<std::chrono::nanoseconds> time = {};
};

// A message of negative precision widens the belief. It is stored if its method divides by the message that arrives on
// the same edge and the belief stays proper. A linear factor passes it on if the integral exists. Other factors read it
// as a message of little precision that keeps the mean of the belief, and their messages count as replaced. If it
// arrives on the edge that a factor sends to: a function or conditional density sends its output the same message as to
// an unknown one; to an input it sends nothing new, which is a fault. An improper belief at the end of a run is a fault
// too. Models with shared variables refuse such messages.
//
// Throws Error if an observed variable has no value, and Contradiction if two different point masses meet on a variable
// or exact() finds the observations impossible.
Report run(const Plan& plan, State& state, const RunOptions& options = {});

// Runs for this long, at least one sweep. Warm by default, so that the next call continues.
Report run_for(const Plan& plan, State& state, std::chrono::nanoseconds time, RunOptions options = {.warm = true});

class Plan;

// The log of a model's normaliser, log p(observed), from the messages of a run: the Bethe energy. With the arriving
// messages m taken as normalised densities, A the log-normaliser of a family and d_v the messages at an element,
//
//   log Z = sum over factors  log of the integral of f prod m
//         + sum over elements (sum of A(arrivals from it) + (1 - d_v) A(belief))
//
// A factor with variational messages has its part of the variational bound instead (factor_mass.h). It is exact on a
// tree of exact factors, EP's estimate where messages are projections, and an approximation without a bound on a graph
// with loops.
struct Evidence {
  struct Part {
    std::string name;
    double value = 0;
  };
  double log_value = 0;
  bool is_exact = false;
  std::string why;  // why it is an estimate
  std::vector<Part> factors, variables;

  std::string line() const;  // "log evidence -3.21, exact"
  std::string text() const;  // ... and its parts, one per line
};

// The state must have been run; the result says if that run did not settle. A factor that cannot give its part is an
// Error that says why.
Evidence evidence(const Plan& plan, const State& state);
// Only the value; also works for plans with another solver.
double log_evidence(const Plan& plan, const State& state);

}  // namespace dma

template <>
struct fmt::formatter<dma::Evidence> : dma::TextFormatter {
  auto format(const dma::Evidence& evidence, format_context& context) const { return write(evidence.line(), context); }
};
