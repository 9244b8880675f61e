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

#include <functional>
#include <memory>
#include <optional>
#include <span>

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
