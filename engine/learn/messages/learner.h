// learn/: shared variables learned from many examples. May include run/ and what lies below it.
//
// Learning shared variables from many examples: the outer loop of the paper's Algorithm 1, for any graph.
//
// The graph describes one example. Its shared variables (weights, skills) keep what they learned from all examples:
// their prior times one stored message per mini-batch (stored_messages.h). For an example that is new, that product is
// the cavity (State::cavity). A mini-batch is learned anew by dividing its stored message out of the product, running
// the schedule on its examples one after the other, each adding its messages, and storing what the product gained.
// Several workers do so at the same time, in rounds (LearnOptions::workers).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/compile/compile.h"
#include "engine/learn/data.h"
#include "engine/learn/messages/report.h"
#include "engine/learn/messages/shared_factors.h"
#include "engine/learn/messages/stored_messages.h"
#include "engine/learn/worker_team.h"
#include "engine/run/run.h"
#include "engine/support/parallel.h"

namespace dma {

class Executor;

class Learner {
 public:
  // Called after every epoch; false stops.
  using Callback = std::function<bool(const EpochRecord&)>;
  using Memory = LearnMemory;

  // `schedule` is run on every example, `predict` on every example with the targets unobserved: in whatever order, to
  // whatever tolerance and limit they say.
  Learner(const Graph& graph, const Registry& registry, const Scheduler& schedule, const Scheduler& predict,
          LearnOptions options, CompileOptions compile_options = {});

  // Runs epochs until one of the rules fires. May be called again: it goes on where it stopped.
  LearnReport fit(const Data& data, const Callback& callback = {});

  // Learns these examples once, in their order, on top of all that is known: what they taught is then part of the
  // prior, and nothing else of them is kept. For examples that arrive as a stream; fit(), before or after, is about its
  // own.
  struct Added {
    std::size_t examples = 0;
    std::uint64_t faults = 0, replaced = 0, unfinished = 0;  // as in EpochRecord
  };
  Added add(const Data& examples);
  Added learn_one(const Data& example);  // one of them

  // The rule that has fired, if one has; fit() may still be called to go on.
  std::optional<LearnReport::Stop> finished() const { return stop_reason(options_, memory().epochs); }
  // Of these options, those that say when to stop: epochs, tolerance, floor, patience and least_gain; and who watches.
  void set_stopping(const LearnOptions& rules);

  // What a mini-batch taught is taken back: the belief is then the prior times the other stored messages, and further
  // epochs go on without that mini-batch.
  void forget(std::size_t batch);

  // A frozen variable is as it is known now for all examples, and learns nothing from them.
  void freeze(VariableId shared_variable) { learned(shared_variable).is_frozen = true; }
  void thaw(VariableId shared_variable) { learned(shared_variable).is_frozen = false; }

  // The belief of a shared variable: the product of its prior and stored messages, times what factors between shared
  // variables say.
  Belief belief(VariableId shared_variable) const;
  // What is known of the targets given inputs, example by example (targets in `inputs` are ignored): mean and variance
  // of every element of every target, one example after the other.
  void predict(const Data& inputs, std::span<double> means, std::span<double> variances) const;
  // The same for the learned examples themselves, each as if its mini-batch, or its part of it, had never been learned.
  void predict_left_out(const Data& data, std::span<double> means, std::span<double> variances) const;
  std::size_t target_size() const;  // elements of all targets
  // Sums over the fitted examples of all workers.
  TeamSum sum_over_examples() const;

  void set_parameter(FactorId factor, std::string_view parameter, std::span<const double> values);

  const Memory& memory() const { return stored_.memory(); }
  // Of a team of several processes, whose memories are each that of their own mini-batches: all of them, for the first
  // process; all processes call it.
  Memory whole_memory() const;
  // All stored messages as those of one mini-batch: enough to predict.
  Memory condensed_memory() const;
  // Of a learner of the same graph and options, all of it. Throws Error, and changes nothing, if the memory cannot be
  // that.
  void restore(Memory memory);

  // Means and variances of the targets of all examples, from which the last log-likelihood was computed.
  std::span<const double> fitted_means() const { return means_; }
  std::span<const double> fitted_variances() const { return variances_; }

  const LearnOptions& options() const { return options_; }
  const Plan& plan() const { return plan_; }

 private:
  struct SharedVariable {
    VariableId id;
    StoredMessages::Range scalars;
    bool is_frozen = false;
  };
  SharedVariable& learned(VariableId id);  // throws if it is not shared
  // What a worker changes while it learns a mini-batch.
  struct Worker {
    explicit Worker(State& its_state);
    explicit Worker(State&& its_own);
    std::unique_ptr<State> own = nullptr;
    State& state;
    bool has_points = false;                      // a cavity is known exactly somewhere
    std::vector<double> cavity_tau, cavity_rho;   // of the mini-batch
    std::vector<double> part_tau, part_rho;       // of its stored message, what one of its parts stands for
    std::vector<double> said_tau, said_rho;       // by the mini-batch, where cavities are known exactly
    EpochRecord record;
  };

  void prepare(std::size_t examples);
  void take_constants();
  void add_messages(const SharedVariable& variable, const Executor& executor);
  void rebuild_cavity();
  void cavities_changed();
  LearnReport run_epochs(const Data& data, const Callback& callback);
  void learn_batch(const Data& data, std::size_t batch, Worker& worker);
  void learn_examples(const Data& data, std::size_t begin, std::size_t end, const StoredMessages::Learned& learned,
                      Worker& worker);
  void tell(double done, std::size_t of) const;  // who watches
  double step_of_batch() const;
  void learn_in_rounds(const Data& data, EpochRecord& record);
  void learn_from_cavities(const Data& data, std::size_t batch, Worker& worker, std::span<double> change);
  void sum_stored(std::span<double> total) const;
  void divide_batches(std::size_t all, Memory* memory);
  double log_likelihood(const Data& data);
  struct SumAndCount {
    double sum = 0;
    std::size_t count = 0;
  };
  SumAndCount log_likelihood_of(const Data& data, Partition::Range batches) const;
  void give_cavities(State& predictor, std::optional<std::size_t> without_batch = {}, double fraction = 1) const;
  void predict_fitted(const Data& data);
  void predict_examples(State& predictor, const Data& inputs, std::size_t begin, std::size_t end,
                        std::span<Natural> messages) const;
  void read_predictions(const Executor& executor, std::span<Natural> of_example) const;
  void read_moments(std::span<const Natural> messages, std::span<double> means, std::span<double> variances) const;
  void check_spans(std::size_t examples, std::span<const double> means, std::span<const double> variances) const;

  LearnOptions options_;
  Plan plan_, predict_plan_;
  std::unique_ptr<State> state_, predict_state_;  // the second is copied for every prediction
  SharedFactors shared_factors_;
  std::vector<SharedVariable> shared_;
  StoredMessages stored_;
  std::uint32_t scalars_ = 0;    // shared
  bool has_points_ = false;      // a cavity is known exactly somewhere
  bool is_rebuilt_ = false;  // cavities are products of messages as these are, and not what learning has made of them
  std::vector<double> said_tau_, said_rho_;  // by an example that is added, uniform between two of them; scalars
  std::vector<std::uint32_t> met_;           // elements of a variable it speaks of
  std::vector<Natural> fitted_;  // messages to the targets of all examples
  std::vector<double> means_, variances_;
  std::size_t examples_ = 0;
  std::shared_ptr<WorkerTeam> team_;
  Partition partition_;                              // of the fitted examples
  std::vector<Partition::Range> local_batches_;  // of the local workers
  std::unique_ptr<ThreadPool> pool_;
  std::unique_ptr<Worker> alone_;  // where there is one; its memory is used by every epoch
};

}  // namespace dma
