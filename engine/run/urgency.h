// A priority queue of visits on memory given to it: an indexed binary heap, ties by number.
#pragma once

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "engine/messages/gaussian.h"

namespace dma {

class UrgencyQueue {
 public:
  // Everything starts infinitely urgent, so that all visits are made once, in order.
  UrgencyQueue(std::vector<double>& priority, std::vector<std::uint32_t>& heap, std::vector<std::uint32_t>& position)
      : priority_(priority), heap_(heap), position_(position) {
    std::fill(priority_.begin(), priority_.end(), kInfinity);
    std::iota(heap_.begin(), heap_.end(), 0u);
    std::iota(position_.begin(), position_.end(), 0u);
  }

  double largest() const { return heap_.empty() ? 0.0 : priority_[heap_[0]]; }
  // The most urgent visit, which is then not urgent at all.
  std::uint32_t take() {
    const std::uint32_t top = heap_[0];
    priority_[top] = 0;
    sink(0);
    return top;
  }
  void raise(std::uint32_t visit, double priority) {
    if (!(priority > priority_[visit])) return;
    priority_[visit] = priority;
    rise(position_[visit]);
  }

 private:
  bool before(std::uint32_t a, std::uint32_t b) const {
    return priority_[a] > priority_[b] || (priority_[a] == priority_[b] && a < b);
  }
  void swap(std::size_t i, std::size_t j) {
    std::swap(heap_[i], heap_[j]);
    position_[heap_[i]] = static_cast<std::uint32_t>(i);
    position_[heap_[j]] = static_cast<std::uint32_t>(j);
  }
  void rise(std::size_t i) {
    for (; i > 0 && before(heap_[i], heap_[(i - 1) / 2]); i = (i - 1) / 2) swap(i, (i - 1) / 2);
  }
  void sink(std::size_t i) {
    for (;;) {
      std::size_t best = i;
      for (const std::size_t child : {2 * i + 1, 2 * i + 2})
        if (child < heap_.size() && before(heap_[child], heap_[best])) best = child;
      if (best == i) return;
      swap(i, best);
      i = best;
    }
  }

  std::vector<double>& priority_;
  std::vector<std::uint32_t>& heap_;
  std::vector<std::uint32_t>& position_;
};

}  // namespace dma
