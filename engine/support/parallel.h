// The one parallel loop: members, splits, seeds, certificates, workers of a model and blocks of matrices are tasks of
// it.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace dma {

// Jobs that keep this machine busy; at least 1.
std::size_t all_processors();

// Calls f(0), ..., f(count - 1), each once, on at most `jobs` threads, of which the calling one is one: fewer where the
// system grants no more. Tasks are begun in this order. If f writes only to places of its own task, the result does not
// depend on `jobs`. When a call throws, no task after it is begun and, once all threads have ended, the exception of
// the lowest such task is thrown again: every task before it has been done, as in a plain loop.
void parallel_for(std::size_t count, std::size_t jobs, const std::function<void(std::size_t)>& f);

// The same threads for many loops, one after the other: a loop then takes microseconds to begin, not tens of them.
class ThreadPool {
 public:
  explicit ThreadPool(std::size_t jobs);  // at most so many threads, the calling one among them
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // As parallel_for. To be called by one thread at a time, and not by a task of its own.
  void run(std::size_t count, const std::function<void(std::size_t)>& f);
  std::size_t jobs() const;

 private:
  struct Threads;
  std::unique_ptr<Threads> threads_;
};

}  // namespace dma
