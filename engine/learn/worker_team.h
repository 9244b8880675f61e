// Workers that learn one model together: threads of one process, or processes of many machines.
//
// Every worker has its own examples. Numbers of the workers are added in their order, so that what is learned depends
// on how many they are, and never on which of them was first or where they run.
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
  virtual std::size_t size() const = 0;   // workers
  virtual std::size_t first() const = 0;  // of those of this process, which are local() in a row
  virtual std::size_t local() const = 0;
  // `parts`: an array of every local worker, one after the other. `total` becomes the sum of those of all workers, with
  // the same bits in every process. All processes call it, in the same order.
  virtual void sum(std::span<const double> parts, std::span<double> total) = 0;
  // Every number becomes the largest of all processes.
  virtual void largest(std::span<double> values) = 0;
  // Arrays of all processes, one after the other in their order, for the first process; empty for the others.
  virtual std::vector<double> gather(std::span<const double> own) = 0;

  bool is_whole() const { return local() == size(); }  // one process has all workers
  bool is_first() const { return first() == 0; }       // this process speaks for the team
  // Whether it is so anywhere.
  bool any(bool here);
};

// All workers in this process.
std::shared_ptr<WorkerTeam> local_team(std::size_t workers);

// Examples and mini-batches of the local workers, counted in this process: each worker's in a row.
class Partition {
 public:
  struct Range {
    std::size_t begin = 0, end = 0;
    std::size_t size() const { return end - begin; }
  };
  Partition() = default;
  // `examples` are those of this process; all examples make batches_for(all examples) mini-batches. An Error where a
  // worker has no mini-batch, or fewer examples than mini-batches, or the examples are not split evenly between
  // processes.
  Partition(WorkerTeam& team, const std::function<std::size_t(std::size_t)>& batches_for, std::size_t examples);

  std::size_t workers() const { return examples_.size(); }
  Range examples(std::size_t worker) const { return examples_[worker]; }
  Range batches(std::size_t worker) const { return batches_[worker]; }
  std::size_t batches() const { return batches_.empty() ? 0 : batches_.back().end; }
  // Examples are split into the mini-batches of their worker in their order, as evenly as possible.
  Range examples_of_batch(std::size_t batch) const;
  std::size_t all_batches() const { return all_batches_; }  // of the team
  std::size_t rounds() const { return rounds_; }  // most mini-batches that a worker has

  // The local workers' examples, of those of this process.
  static std::vector<Range> split(WorkerTeam& team, std::size_t examples);
  // The mini-batches of a worker, and the examples it should be given, among those of all.
  static Range batches_of(std::size_t worker, std::size_t workers, std::size_t batches);
  static std::size_t count_examples(std::size_t worker, std::size_t workers, std::size_t examples);

 private:
  std::vector<Range> examples_, batches_;
  std::size_t rounds_ = 0, all_batches_ = 0;
};

// A sum over all rows of a team, from the sums over the rows [begin, end) of each worker.
class TeamSum {
 public:
  TeamSum(WorkerTeam& team, std::vector<Partition::Range> rows) : team_(&team), rows_(std::move(rows)) {}
  double operator()(const std::function<double(std::size_t begin, std::size_t end)>& part) const;
  const std::vector<Partition::Range>& rows() const { return rows_; }
  WorkerTeam& team() const { return *team_; }

 private:
  WorkerTeam* team_;
  std::vector<Partition::Range> rows_;  // of the local workers
};

}  // namespace dma
