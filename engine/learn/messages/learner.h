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
#include "engine/messages/belief.h"

namespace dma {

class TeamSum;  // engine/learn/worker_team.h
struct LearnMemory;

class Learner {
 public:
  // Called after every epoch; false stops.
  using Callback = std::function<bool(const EpochRecord&)>;
  using Memory = LearnMemory;  // stored_messages.h

  // `schedule` is run on every example, `predict` on every example with the targets unobserved: in whatever order, to
  // whatever tolerance and limit they say.
  Learner(const Graph& graph, const Registry& registry, const Scheduler& schedule, const Scheduler& predict,
          LearnOptions options, CompileOptions compile_options = {});
  ~Learner();
  Learner(Learner&&) noexcept;

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
  std::optional<LearnReport::Stop> finished() const;
  // Of these options, those that say when to stop: epochs, tolerance, floor, patience and least_gain; and who watches.
  void set_stopping(const LearnOptions& rules);

  // What a mini-batch taught is taken back: the belief is then the prior times the other stored messages, and further
  // epochs go on without that mini-batch.
  void forget(std::size_t batch);

  // A frozen variable is as it is known now for all examples, and learns nothing from them.
  void freeze(VariableId shared_variable);
  void thaw(VariableId shared_variable);  // lets a frozen variable learn again

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

  void set_parameter(FactorId factor, std::string_view parameter, std::span<const double> values);  // as State's

  const Memory& memory() const;  // stored messages of this process
  // Of a team of several processes, whose memories are each that of their own mini-batches: all of them, for the first
  // process; all processes call it.
  Memory whole_memory() const;
  // All stored messages as those of one mini-batch: enough to predict.
  Memory condensed_memory() const;
  // Of a learner of the same graph and options, all of it. Throws Error, and changes nothing, if the memory cannot be
  // that.
  void restore(Memory memory);

  // Means and variances of the targets of all examples, from which the last log-likelihood was computed.
  std::span<const double> fitted_means() const;
  std::span<const double> fitted_variances() const;

  const LearnOptions& options() const;  // as they were given
  const Plan& plan() const;             // plan of one example

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace dma
