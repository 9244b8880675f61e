// The processes that mpirun started, as a team of workers that fit one model together.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/learn/worker_team.h"

namespace dma {

// A program that was not started by mpirun is one process and loads nothing.
class ProcessGroup {
 public:
  // Joins the other processes. An Error if this program has no MPI module.
  static ProcessGroup join();
  // Call at the end in all processes. Without it, the end of this process ends the others.
  void leave();

  std::size_t size() const;
  bool is_first() const;  // the one that speaks and writes
  // A team of workers, equally many in each process. An Error if they cannot be split so.
  std::shared_ptr<WorkerTeam> team(std::size_t workers) const;
  int largest(int value) const;  // largest value among all processes
  std::size_t rank() const;      // from 0
  // Sends numbers to every process and returns those for this one, in the order of the processes. All must call it.
  std::vector<double> exchange(const std::vector<std::vector<double>>& for_each) const;

 private:
  struct Loaded;
  std::shared_ptr<Loaded> loaded_;  // none: alone
};

// Ends all processes after a failure of this one.
void end_processes(int code);
// The name of this process for its messages, "process 3 of 4: "; empty for the first, and for one alone.
std::string name_of_process();

}  // namespace dma
