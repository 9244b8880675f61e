#include "engine/support/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "engine/support/signals.h"

namespace dma {

namespace {

// One loop: threads take its tasks in order until none is left.
class Loop {
 public:
  Loop(std::size_t count, const std::function<void(std::size_t)>& f) : count_(count), failed_(count), f_(f) {}

  void work() {
    for (std::size_t i; (i = next_++) < count_;) try {
        f_(i);
      } catch (...) {
        const std::lock_guard lock(mutex_);
        next_ = count_;  // counts tasks as begun, so that no more start
        if (i > failed_) continue;
        failed_ = i;
        failure_ = std::current_exception();
      }
  }
  void finish() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  const std::size_t count_;
  std::atomic<std::size_t> next_ = 0;
  std::mutex mutex_;
  std::size_t failed_;
  std::exception_ptr failure_;
  const std::function<void(std::size_t)>& f_;
};

// Waits until the value changes. Loops of a thread pool follow each other within microseconds, faster than a sleeping
// thread is woken; longer waits yield the processor.
template <class T>
void wait_while(const std::atomic<T>& value, T old) {
  constexpr int kLooks = 2000;
  for (int look = 0; look < kLooks; ++look)
    if (value.load(std::memory_order_acquire) != old) return;
  value.wait(old, std::memory_order_acquire);
}

// Begins that many worker threads, or as many as the system grants.
template <class Work>
void begin_threads(std::size_t count, std::vector<std::jthread>& threads, const Work& work) {
  while (threads.size() < count) {
    std::optional<std::jthread> next = begin_thread(work);
    if (!next) return;
    threads.push_back(std::move(*next));
  }
}

}  // namespace

std::size_t all_processors() { return std::max(1u, std::thread::hardware_concurrency()); }

void parallel_for(std::size_t count, std::size_t jobs, const std::function<void(std::size_t)>& f) {
  Loop loop(count, f);
  {
    std::vector<std::jthread> others;
    if (std::min(jobs, count) > 1) begin_threads(std::min(jobs, count) - 1, others, [&] { loop.work(); });
    loop.work();
  }
  loop.finish();
}

struct ThreadPool::Threads {
  std::atomic<std::uint32_t> begun = 0;  // number of loops
  std::atomic<bool> ended = false;       // no more loops will come
  std::atomic<Loop*> loop = nullptr;
  std::atomic<std::size_t> working = 0;  // number of other threads at work
  std::vector<std::jthread> others;

  ~Threads() {  // must precede joining, even if the constructor throws
    ended = true;
    begin();
  }
  void follow() {
    for (std::uint32_t seen = 0;;) {
      wait_while(begun, seen);
      seen = begun.load(std::memory_order_acquire);
      if (ended) return;
      loop.load()->work();
      if (working.fetch_sub(1, std::memory_order_acq_rel) == 1) working.notify_one();
    }
  }
  void begin() {
    begun.fetch_add(1, std::memory_order_acq_rel);
    begun.notify_all();
  }
};

ThreadPool::ThreadPool(std::size_t jobs) : threads_(std::make_unique<Threads>()) {
  if (jobs > 1) begin_threads(jobs - 1, threads_->others, [t = threads_.get()] { t->follow(); });
}

ThreadPool::~ThreadPool() = default;

std::size_t ThreadPool::jobs() const { return threads_->others.size() + 1; }

void ThreadPool::run(std::size_t count, const std::function<void(std::size_t)>& f) {
  Loop loop(count, f);
  if (threads_->others.empty() || count < 2) {
    loop.work();
    return loop.finish();
  }
  threads_->loop = &loop;
  threads_->working = threads_->others.size();
  threads_->begin();
  loop.work();
  for (std::size_t left; (left = threads_->working.load(std::memory_order_acquire)) != 0;)
    wait_while(threads_->working, left);
  loop.finish();
}

}  // namespace dma
