// A vector whose memory a thread keeps for the next one: functions that many threads may call at once have buffers, and
// only the first calls of a thread allocate.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace dma {

template <class T>
class Lent {
 public:
  explicit Lent(std::size_t size = 0) {
    if (!kept().empty()) own_ = std::move(kept().back()), kept().pop_back();
    own_.assign(size, T());
  }
  ~Lent() {
    if (own_.capacity() <= kMost && kept().size() < kept().capacity()) kept().push_back(std::move(own_));
  }
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;

  std::vector<T>& operator*() { return own_; }

 private:
  static constexpr std::size_t kTogether = 16, kMost = 10'000;  // vectors, numbers of one
  static std::vector<std::vector<T>>& kept() {
    thread_local std::vector<std::vector<T>> all = [] {
      std::vector<std::vector<T>> room;
      room.reserve(kTogether);
      return room;
    }();
    return all;
  }

  std::vector<T> own_;
};

}  // namespace dma
