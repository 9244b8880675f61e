// learn/: shared variables learned from many examples. May include run/ and what lies below it.
//
// The outer loop of the paper's Algorithm 1, for any graph.
//
// The graph describes one example. The belief of its shared variables (weights, skills) is their prior times one stored
// message per mini-batch (stored_messages.h); for a new example it is the cavity (State::cavity). To learn a mini-batch
// anew, the learner divides its stored message out of the belief, runs the schedule on its examples one after the
// other, each adding its messages, and stores the quotient of the beliefs after and before. Several workers do so at
// the same time, in rounds (LearnOptions::workers).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/compile/compile.h"
#include "engine/graph/graph.h"
#include "engine/learn/data.h"
#include "engine/messages/family.h"

namespace dma {

class Fields;
class WorkerTeam;

// Options of learning by messages.
struct LearnOptions {
  std::vector<VariableId> targets = {};  // observed variables to predict, whose log-likelihood is reported
  std::size_t batches = 10;              // mini-batches, at most one per example
  std::size_t batch_size = 0;            // most examples per mini-batch; if not 0, it replaces `batches`
  int epochs = 200;                      // the limit
  // Stop when |L_e - L_(e-1)| / max(0.001, |L_(e-1)|) < tolerance, with L_e the mean log predictive density after
  // epoch e.
  double tolerance = 0.1;
  int patience = 0;       // stop after this many epochs without a better L; 0: never
  double least_gain = 0;  // stop when L has risen by less than this per epoch over the last ten; 0: never
  double step = 1;        // fraction of a stored message's change, in (0, 1]; the first epoch makes all of it
  // The log-likelihood of an epoch is that of a pass over all examples after it, or of the predictions that the sweeps
  // make of each example before they learn it.
  enum class Likelihood { after_epoch, while_sweeping } likelihood = Likelihood::after_epoch;
  // Workers that learn their own examples at the same time. In a round each learns one mini-batch from the same
  // belief, which then gains the mean of their changes (steps are at most 1 / workers). The result depends on the
  // number of workers and on nothing else. 1: one mini-batch after the other.
  std::size_t workers = 1;
  std::size_t jobs = 1;                        // threads; no result depends on them
  std::shared_ptr<WorkerTeam> team = nullptr;  // the workers, if other processes have some of them
  StageWatch on_stage = {};
};

void list_fields(Fields& f, LearnOptions& options);
void check(const LearnOptions& options);  // an Error for what cannot be set

// Number of mini-batches of that many examples of all workers.
std::size_t count_batches(const LearnOptions& options, std::size_t examples);

// The report of learning: its epochs, and why it stopped.
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

class TeamSum;  // engine/learn/worker_team.h
struct LearnMemory;

class Learner {
 public:
  // Called after every epoch; false stops.
  using Callback = std::function<bool(const EpochRecord&)>;
  using Memory = LearnMemory;  // stored_messages.h

  // Runs `schedule` on every example, and `predict` on every example with the targets unobserved.
  Learner(const Graph& graph, const Registry& registry, const Scheduler& schedule, const Scheduler& predict,
          LearnOptions options, CompileOptions compile_options = {});
  ~Learner();
  Learner(Learner&&) noexcept;

  // Runs epochs until a stopping rule fires. A second call continues.
  LearnReport fit(const Data& data, const Callback& callback = {});

  // Learns examples of a stream once, in their order: their messages join the prior, and nothing else of them is kept.
  // fit(), before or after, has its own examples.
  struct Added {
    std::size_t examples = 0;
    std::uint64_t faults = 0, replaced = 0, unfinished = 0;  // as in EpochRecord
  };
  Added add(const Data& examples);       // returns what happened
  Added learn_one(const Data& example);  // the same for one example

  // The stopping rule that has fired, if any; fit() may still be called.
  std::optional<LearnReport::Stop> finished() const;
  // Takes over epochs, tolerance, patience, least_gain and on_stage of these options.
  void set_stopping(const LearnOptions& rules);

  // Removes the stored message of a mini-batch; further epochs run without that mini-batch.
  void forget(std::size_t batch);

  // Examples read a frozen variable but do not change its belief.
  void freeze(VariableId shared_variable);
  void thaw(VariableId shared_variable);  // lets a frozen variable learn again

  // The product of a shared variable's prior, its stored messages, and the messages of factors between shared
  // variables.
  Belief belief(VariableId shared_variable) const;
  // Means and variances of all elements of all targets, one example after the other. Targets in `inputs` are ignored.
  void predict(const Data& inputs, std::span<double> means, std::span<double> variances) const;
  // The same for the learned examples, each without the stored message of its mini-batch.
  void predict_left_out(const Data& data, std::span<double> means, std::span<double> variances) const;
  std::size_t target_size() const;  // elements of all targets
  // Sums over the fitted examples of all workers.
  TeamSum sum_over_examples() const;

  void set_parameter(FactorId factor, std::string_view parameter, std::span<const double> values);  // as State's

  const Memory& memory() const;  // stored messages of this process
  // The stored messages of all processes, for the first process. All processes of a team call it together.
  Memory whole_memory() const;
  Memory condensed_memory() const;  // the product of all stored messages as that of one mini-batch: enough to predict
  // Takes over the memory of a learner of the same graph and options. Throws Error, and changes nothing, if it does not
  // fit.
  void restore(Memory memory);

  // Means and variances of the targets of all examples, as used for the last log-likelihood.
  std::span<const double> fitted_means() const;
  std::span<const double> fitted_variances() const;  // in the same order

  const LearnOptions& options() const;  // settings of learning
  const Plan& plan() const;             // plan of one example

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace dma
