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

struct Learner::Impl {
  Impl(const Graph& graph, const Registry& registry, const Scheduler& schedule, const Scheduler& predict,
       LearnOptions options, CompileOptions compile_options);

  std::size_t target_size() const;
  const Memory& memory() const { return stored_.memory(); }
  struct SharedVariable {
    VariableId id;
    StoredMessages::Range scalars;
    bool is_frozen = false;
  };
  SharedVariable& learned(VariableId id);  // throws if it is not shared
  // Working memory of a worker while it learns a mini-batch.
  struct Worker {
    explicit Worker(State& its_state);
    explicit Worker(State&& its_own);
    std::unique_ptr<State> own = nullptr;
    State& state;
    bool has_points = false;                     // some cavity contains a point mass
    std::vector<double> cavity_tau, cavity_rho;  // cavity of the mini-batch
    std::vector<double> said_tau, said_rho;      // messages of the mini-batch, if cavities contain point masses
    EpochRecord record;
  };

  void prepare(std::size_t examples);
  void take_constants();
  void add_messages(const SharedVariable& variable, const Executor& executor);
  void rebuild_cavity();
  void cavities_changed();
  LearnReport run_epochs(const Data& data, const Callback& callback);
  void learn_batch(const Data& data, std::size_t batch, Worker& worker);
  void tell(std::size_t done, std::size_t of) const;  // calls options.on_stage
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
  void give_cavities(State& predictor, std::optional<std::size_t> without_batch = {}) const;
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
  std::uint32_t scalars_ = 0;  // number of shared scalars
  bool has_points_ = false;    // some cavity contains a point mass
  bool is_rebuilt_ = false;    // cavities were multiplied anew from the messages since learning last changed them
  std::vector<double> said_tau_, said_rho_;  // by scalar: messages of the added example; uniform between examples
  std::vector<std::uint32_t> met_;           // elements of a variable that the added example reaches
  std::vector<Natural> fitted_;              // messages to the targets of all examples
  std::vector<double> means_, variances_;
  std::size_t examples_ = 0;
  std::shared_ptr<WorkerTeam> team_;
  Partition partition_;                          // partition of the fitted examples
  std::vector<Partition::Range> local_batches_;  // mini-batches of the local workers
  std::unique_ptr<ThreadPool> pool_;
  std::unique_ptr<Worker> alone_;  // the only worker, kept for its memory
};

}  // namespace dma
