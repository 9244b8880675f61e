// Workers that learn one model together: threads of one process, or processes of many machines.
//
// Every worker has its own examples. Sums over workers are added in their order, so the result depends on their number
// but not on timing or on where they run.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace dma {

class WorkerTeam {
 public:
  virtual ~WorkerTeam() = default;
  virtual std::size_t size() const = 0;   // workers of all processes
  virtual std::size_t first() const = 0;  // the first worker of this process
  virtual std::size_t local() const = 0;  // workers of this process, in a row
  // `parts` has one array per local worker, one after the other. Writes the sum over all workers to `total`, with the
  // same bits in every process. All processes call it, in the same order.
  virtual void sum(std::span<const double> parts, std::span<double> total) = 0;
  // Replaces every number by its largest value over all processes.
  virtual void largest(std::span<double> values) = 0;
  // The arrays of all processes in their order, for the first process; empty for the others.
  virtual std::vector<double> gather(std::span<const double> own) = 0;

  bool is_whole() const { return local() == size(); }  // one process has all workers
  bool is_first() const { return first() == 0; }       // this process reports for the team
  bool any(bool here);                                 // true if `here` is true in any process
};

// All workers in this process.
std::shared_ptr<WorkerTeam> local_team(std::size_t workers);

// Examples and mini-batches of the local workers, numbered within this process; each worker has consecutive ones.
class Partition {
 public:
  struct Range {
    std::size_t begin = 0, end = 0;
    std::size_t size() const { return end - begin; }
  };
  Partition() = default;
  // `examples`: number of examples of this process. All examples make batches_for(all examples) mini-batches. An Error
  // if a worker has no mini-batch, or fewer examples than mini-batches, or processes do not share examples evenly.
  Partition(WorkerTeam& team, const std::function<std::size_t(std::size_t)>& batches_for, std::size_t examples);

  std::size_t workers() const { return examples_.size(); }
  Range examples(std::size_t worker) const { return examples_[worker]; }
  Range batches(std::size_t worker) const { return batches_[worker]; }
  std::size_t batches() const { return batches_.empty() ? 0 : batches_.back().end; }
  // A worker's examples are split into its mini-batches in their order, as evenly as possible.
  Range examples_of_batch(std::size_t batch) const;
  std::size_t all_batches() const { return all_batches_; }  // mini-batches of all workers
  std::size_t rounds() const { return rounds_; }            // mini-batches of the worker with the most

  // The examples of each local worker.
  static std::vector<Range> split(WorkerTeam& team, std::size_t examples);
  // The mini-batches and the number of examples of one of `workers`, among all.
  static Range batches_of(std::size_t worker, std::size_t workers, std::size_t batches);
  static std::size_t count_examples(std::size_t worker, std::size_t workers, std::size_t examples);

 private:
  std::vector<Range> examples_, batches_;
  std::size_t rounds_ = 0, all_batches_ = 0;
};

// Sums over all rows of a team, from sums over the rows [begin, end) of each worker.
class TeamSum {
 public:
  TeamSum(WorkerTeam& team, std::vector<Partition::Range> rows) : team_(&team), rows_(std::move(rows)) {}
  double operator()(const std::function<double(std::size_t begin, std::size_t end)>& part) const;
  const std::vector<Partition::Range>& rows() const { return rows_; }
  WorkerTeam& team() const { return *team_; }

 private:
  WorkerTeam* team_;
  std::vector<Partition::Range> rows_;  // rows of the local workers
};

}  // namespace dma
