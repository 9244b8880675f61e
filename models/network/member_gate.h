// Members of a network that are learned at the same time take turns in telling what they have learned.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>

namespace dma {

// Members that are learned at the same time, and a caller who is told of their epochs and may look at all of them.
class MemberGate {
 public:
  // Somebody was told to stop: nobody else should begin.
  bool is_closed() {
    const std::lock_guard lock(mutex_);
    return closed_;
  }
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }

  // Held by a member while it learns.
  class Pass {
   public:
    explicit Pass(MemberGate& gate) : gate_(gate) {
      std::unique_lock lock(gate_.mutex_);
      gate_.enter(lock);
    }
    ~Pass() {
      const std::lock_guard lock(gate_.mutex_);
      gate_.leave();
    }
    Pass(const Pass&) = delete;
    Pass& operator=(const Pass&) = delete;

    // The question is asked while nobody learns. After one no, every answer is no.
    bool ask(const std::function<bool()>& question) {
      std::unique_lock lock(gate_.mutex_);
      gate_.leave();
      ++gate_.waiting_;
      gate_.changed_.wait(lock,
                          [&] { return gate_.learning_ == 0; });  // the question is asked under the lock: one at a time
      --gate_.waiting_;
      bool yes = false;
      try {
        yes = question() && !gate_.closed_;
      } catch (...) {
        gate_.closed_ = true;
        ++gate_.learning_;  // the pass is given back by whoever holds it
        gate_.changed_.notify_all();
        throw;
      }
      if (!yes) gate_.closed_ = true;
      gate_.changed_.notify_all();
      gate_.enter(lock);
      return yes;
    }

   private:
    MemberGate& gate_;
  };

 private:
  // Whoever would go on lets those ask first that are waiting for it. Members then begin their epochs together; if each
  // went on at once, the next question would wait for a whole epoch of it, and one member at a time would learn.
  void enter(std::unique_lock<std::mutex>& lock) {
    changed_.wait(lock, [&] { return waiting_ == 0; });
    ++learning_;
  }
  void leave() {
    --learning_;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t learning_ = 0, waiting_ = 0;
  bool closed_ = false;
};

}  // namespace dma
