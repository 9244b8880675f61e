#include "engine/support/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace dma {

std::size_t all_processors() { return std::max(1u, std::thread::hardware_concurrency()); }

void parallel_for(std::size_t count, std::size_t jobs, const std::function<void(std::size_t)>& f) {
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::exception_ptr failure;
  std::size_t failed = count;
  const auto work = [&] {
    for (std::size_t i; (i = next++) < count;) try {
        f(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        next = count;  // tasks before this one are begun already
        if (i > failed) continue;
        failed = i;
        failure = std::current_exception();
      }
  };
  {
    std::vector<std::jthread> others;
    for (std::size_t j = 1; j < std::min(jobs, count); ++j) others.emplace_back(work);
    work();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace dma
