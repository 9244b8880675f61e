// The implementation of Learner.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/compile/compile.h"
#include "engine/learn/messages/learner.h"
#include "engine/learn/messages/shared_factors.h"
#include "engine/learn/messages/stored_messages.h"
#include "engine/learn/worker_team.h"
#include "engine/run/run.h"
#include "engine/support/parallel.h"

namespace dma {

class Executor;

// Functions of the same name are those of Learner.
struct Learner::Impl {
  Impl(const Graph& graph, const Registry& registry, const Scheduler& schedule, const Scheduler& predict,
       LearnOptions options, CompileOptions compile_options);

  LearnReport fit(const Data& data, const Callback& callback);
  Added add(const Data& examples);
  Added learn_one(const Data& example);
  void set_stopping(const LearnOptions& rules);
  void forget(std::size_t batch);
  Belief belief(VariableId shared_variable) const;
  void predict(const Data& inputs, std::span<double> means, std::span<double> variances) const;
  void predict_left_out(const Data& data, std::span<double> means, std::span<double> variances) const;
  std::size_t target_size() const;
  TeamSum sum_over_examples() const;
  void set_parameter(FactorId factor, std::string_view parameter, std::span<const double> values);
  const Memory& memory() const { return stored_.memory(); }
  Memory whole_memory() const;
  Memory condensed_memory() const;
  void restore(Memory memory);

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
    bool has_points = false;                     // a cavity is known exactly somewhere
    std::vector<double> cavity_tau, cavity_rho;  // of the mini-batch
    std::vector<double> part_tau, part_rho;      // of its stored message, what one of its parts stands for
    std::vector<double> said_tau, said_rho;      // by the mini-batch, where cavities are known exactly
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
  std::uint32_t scalars_ = 0;  // shared
  bool has_points_ = false;    // a cavity is known exactly somewhere
  bool is_rebuilt_ = false;    // cavities are products of messages as these are, and not what learning has made of them
  std::vector<double> said_tau_, said_rho_;  // by an example that is added, uniform between two of them; scalars
  std::vector<std::uint32_t> met_;           // elements of a variable it speaks of
  std::vector<Natural> fitted_;              // messages to the targets of all examples
  std::vector<double> means_, variances_;
  std::size_t examples_ = 0;
  std::shared_ptr<WorkerTeam> team_;
  Partition partition_;                          // of the fitted examples
  std::vector<Partition::Range> local_batches_;  // of the local workers
  std::unique_ptr<ThreadPool> pool_;
  std::unique_ptr<Worker> alone_;  // where there is one; its memory is used by every epoch
};

}  // namespace dma
