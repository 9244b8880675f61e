// Members that are learned at the same time, and a caller who is told of their epochs and may look at all of them.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <shared_mutex>

namespace dma {

class MemberGate {
 public:
  // Somebody was told to stop: nobody else should begin.
  bool is_closed() const { return closed_; }
  void close() { closed_ = true; }

  // Held by a member while it learns.
  class Pass {
   public:
    explicit Pass(MemberGate& gate) : gate_(gate), learning_(gate.learning_) {}
    // The question is asked while nobody learns. After one no, every answer is no.
    bool ask(const std::function<bool()>& question) {
      learning_.unlock();
      bool yes = false;
      {
        const std::lock_guard alone(gate_.learning_);
        yes = question() && !gate_.closed_;
        if (!yes) gate_.closed_ = true;
      }
      learning_.lock();
      return yes;
    }
    // For what another member does first.
    void wait(const std::function<void()>& until) {
      learning_.unlock();
      until();
      learning_.lock();
    }

   private:
    MemberGate& gate_;
    std::shared_lock<std::shared_mutex> learning_;
  };

 private:
  std::shared_mutex learning_;
  std::atomic<bool> closed_ = false;
};

}  // namespace dma
