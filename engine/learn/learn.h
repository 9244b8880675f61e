// learn/: shared variables learned from many examples. May include run/ and what lies below it.
//
// Learning shared variables from many examples: the outer loop of the paper's Algorithm 1, for any graph.
//
// The graph describes one example. Its shared variables (weights, skills) keep what they learned from all examples in their
// context (State::context): their prior times one stored message per batch. A batch is learned anew by dividing its stored
// message out of the context, sweeping its examples one after the other, each adding its messages, and storing what the
// context gained. Every stored message is a product of factor messages, so its precision is not negative and the context
// without it is proper again.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/compile/compile.h"
#include "engine/run/run.h"

namespace dma {

class Executor;

// The values of one observed variable for all examples, one example after the other.
struct Observations {
  VariableId variable;
  std::span<const double> values;
};
using Data = std::vector<Observations>;

struct LearnOptions {
  std::vector<VariableId> targets = {};  // observed variables to predict; the log-likelihood is theirs
  std::size_t batches = 10;              // at most one per example
  int epochs = 200;                      // the limit
  // Stop when |L_e - L_(e-1)| / max(floor, |L_(e-1)|) < tolerance, L_e the mean log predictive density after epoch e.
  double tolerance = 0.1;
  double floor = 1e-3;
  // Stop when L has not been better than its best for this many epochs; 0: never.
  int patience = 0;
  // Stop when L has risen by less than this an epoch, over the last ten; 0: never.
  double least_gain = 0;
  // Every stored message counts this many times in the belief: 1 is the posterior, more a colder ("tempered") one. A batch
  // takes one of its copies out before it is learned anew, so its examples always see at least what 1 would show them.
  double evidence_weight = 1;
  // The share of the change of a stored message that is made at once, in (0, 1]; in the first epoch, and later.
  double first_step = 1, step = 1;
  // Where the log-likelihood of an epoch comes from: a pass over all examples after it, or the predictions that the sweeps
  // make anyway, each before its example is learned (anew).
  enum class Likelihood { after_epoch, while_sweeping } likelihood = Likelihood::after_epoch;
};

struct EpochRecord {
  int epoch = 0;
  double log_likelihood = 0;   // mean over all examples and elements of the targets, after the epoch
  double seconds = 0;          // since learning began
  std::uint64_t faults = 0;    // messages refused in this epoch
  std::uint64_t replaced = 0;  // ... and computed another way, see Report
};

struct LearnReport {
  enum class Stop { tolerance, patience, limit, interrupted, least_gain } stop = Stop::limit;
  std::vector<EpochRecord> epochs;
  std::uint64_t faults = 0, replaced = 0;
  std::string line() const;
};

class Learner {
 public:
  // Called after every epoch; false stops.
  using Callback = std::function<bool(const EpochRecord&)>;

  // `sweep` is run on every example, `predict` on every example with the targets unobserved.
  Learner(const Graph& graph, const Registry& registry, const Scheduler& sweep, const Scheduler& predict,
          LearnOptions options, CompileOptions compile_options = {});

  // Runs epochs until one of the rules fires. May be called again: it goes on where it stopped.
  LearnReport fit(const Data& data, const Callback& callback = {});

  // The rule that has fired, if one has; fit() may still be called to go on.
  std::optional<LearnReport::Stop> finished() const;

  // What a batch taught is taken back: the belief is then the prior times the other stored messages, and further epochs
  // go on without that batch.
  void forget(std::size_t batch);

  // The belief of a shared variable: its context, times what factors between shared variables say.
  Belief belief(VariableId shared_variable) const;
  // Messages to the targets given inputs, example by example (targets in `inputs` are ignored): mean and variance of every
  // element of every target, one example after the other.
  void predict(const Data& inputs, std::span<double> means, std::span<double> variances);
  // The same for the learned examples themselves, each as if its batch had never been learned.
  void predict_left_out(const Data& data, std::span<double> means, std::span<double> variances);
  std::size_t target_size() const;  // elements of all targets

  void set_parameter(FactorId factor, std::string_view parameter, std::span<const double> values);

  // The stored messages of all batches: all that learning is. Restoring them and fitting on gives the same bytes as never
  // having stopped.
  struct Memory {
    std::vector<std::vector<double>> tau, rho;  // batch, shared scalar
    std::vector<bool> active;
    std::vector<EpochRecord> epochs;
  };
  const Memory& memory() const { return memory_; }
  // All stored messages as those of one batch: enough to predict.
  Memory condensed_memory() const;
  void restore(Memory memory);

  // Means and variances of the targets of all examples, from which the last log-likelihood was computed.
  std::span<const double> fitted_means() const { return means_; }
  std::span<const double> fitted_variances() const { return variances_; }

  LearnOptions& options() { return options_; }
  const Plan& plan() const { return plan_; }

 private:
  struct SharedVariable {
    VariableId id;
    std::uint32_t first = 0, size = 0;  // in the memory's arrays
  };

  void prepare(std::size_t examples);
  void take_constants();
  void sum_memory(const SharedVariable& shared, double* tau, double* rho) const;
  void rebuild_context();
  void learn_batch(const Data& data, std::size_t batch, std::size_t begin, std::size_t end, Executor& executor,
                   EpochRecord& record);
  double log_likelihood(const Data& data, std::size_t examples) const;
  void predict_examples(const Data& inputs, std::size_t begin, std::size_t end, std::span<double> means,
                        std::span<double> variances);
  void read_predictions(const Executor& executor, std::size_t example, std::span<double> means,
                        std::span<double> variances) const;
  void give_context_to_predictor(std::optional<std::size_t> without_batch = {});
  std::size_t first_example(std::size_t batch) const { return batch * examples_ / options_.batches; }

  LearnOptions options_;
  Plan plan_, predict_plan_;
  std::unique_ptr<State> state_, predict_state_;
  std::vector<SharedVariable> shared_;
  std::uint32_t shared_size_ = 0;
  std::vector<double> prior_tau_, prior_rho_;  // what constant factors say to the shared scalars
  std::vector<double> cavity_tau_, cavity_rho_;
  std::vector<double> means_, variances_;
  Memory memory_;
  std::size_t examples_ = 0;
};

}  // namespace dma
