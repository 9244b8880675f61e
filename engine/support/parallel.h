// The only parallel loop of the library: members, splits, seeds, certificates, workers of a model and blocks of
// matrices are its tasks.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace dma {

// Number of threads that keep this machine busy; at least 1.
std::size_t all_processors();

// Calls f(0), ..., f(count - 1), each once, on at most `jobs` threads including the calling one; on fewer if the system
// grants no more. Tasks begin in this order. If f writes only to places of its own task, the result does not depend on
// `jobs`. If a call throws, no later task is begun and, once all threads have ended, the exception of the lowest such
// task is rethrown: as in a plain loop, every task before it is done.
void parallel_for(std::size_t count, std::size_t jobs, const std::function<void(std::size_t)>& f);

// Reusable threads for many loops: a loop then takes microseconds to begin, not tens of them.
class ThreadPool {
 public:
  explicit ThreadPool(std::size_t jobs);  // at most so many threads, including the calling one
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // As parallel_for. Call it from one thread at a time, and not from a task of its own.
  void run(std::size_t count, const std::function<void(std::size_t)>& f);
  std::size_t jobs() const;

 private:
  struct Threads;
  std::unique_ptr<Threads> threads_;
};

}  // namespace dma
