// Orders visits by priority: the change of what arrives at a factor since its last visit; ties go to the least recent
// visit.
//
// If very many visits read one variable, a change there affects them all, and updating each would be too slow. So every
// variable has a list of its readers, the least recently visited first: it has missed most, and is the most urgent of
// them. A few of the largest recent changes tell how much it has missed. A heap holds the variables, each with the
// priority of its first reader, and the visits that are urgent by themselves.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "engine/messages/gaussian.h"
#include "engine/support/sizes.h"

namespace dma {

class PriorityQueue {
 public:
  using Lists = std::vector<std::vector<std::uint32_t>>;

  // readers[v]: the visits that read variable v, each once.
  PriorityQueue(const Lists& readers, std::size_t visits) : lines_(readers.size()), visits_(visits) {
    std::vector<std::uint32_t> edges(visits + 1);
    for (const auto& line : readers)
      for (const std::uint32_t visit : line) ++edges[visit + 1];
    std::partial_sum(edges.begin(), edges.end(), edges.begin());
    for (std::size_t i = 0; i < visits; ++i) {
      visits_[i].first_edge = edges[i];
      visits_[i].end_edge = edges[i + 1];
    }
    edges_.resize(edges.back());
    for (std::uint32_t v = 0; v < readers.size(); ++v)
      for (const std::uint32_t visit : readers[v]) edges_[edges[visit]++] = {v, visit};
    heap_.resize(readers.size() + visits);
    entries_.resize(heap_.size());
  }

  // Gives every visit infinite priority, so that all are made once, in order.
  void start() {
    now_ = visits_.size();
    lines_.assign(lines_.size(), {});
    for (std::uint32_t i = 0; i < visits_.size(); ++i) {
      visits_[i].made = i;
      for (std::uint32_t e = visits_[i].first_edge; e < visits_[i].end_edge; ++e) append(e);
    }
    std::iota(heap_.begin(), heap_.end(), 0u);
    for (std::uint32_t i = 0; i < entries_.size(); ++i) {
      const bool is_visit = i >= lines_.size();
      entries_[i] = {is_visit ? kInfinity : 0.0, is_visit ? i - lines_.size() : 0, i};
    }
    for (std::size_t i = heap_.size() / 2; i-- > 0;) sink(i);
  }

  double largest() const { return heap_.empty() ? 0.0 : entries_[heap_[0]].priority; }
  // Removes and returns the most urgent visit.
  std::uint32_t take() {
    const std::uint32_t top = heap_[0], visit = top < lines_.size() ? edges_[lines_[top].first].visit : top - own(0);
    visits_[visit].made = ++now_;
    set(own(visit), 0, now_);
    for (std::uint32_t e = visits_[visit].first_edge; e < visits_[visit].end_edge; ++e) {
      remove(e);
      append(e);
      reconsider(edges_[e].variable);
    }
    return visit;
  }
  // The visit taken last changed the messages that arrive at all other readers of a variable.
  void inform(std::uint32_t variable, double change) {
    if (!(change > 0) || lines_[variable].first == kNowhere) return;
    lines_[variable].note(now_, change);
    reconsider(variable);
  }
  // Raises the priority of a single visit.
  void raise(std::uint32_t visit, double priority) {
    if (priority > entries_[own(visit)].priority) set(own(visit), priority, visits_[visit].made);
  }

 private:
  static constexpr std::uint32_t kMostChanges = 8;

  struct Change {
    std::uint64_t time = 0;
    double size = 0;
  };
  struct Line {
    std::uint32_t first = kNowhere, last = kNowhere;  // indices of edges
    // Changes larger than all later ones. If there are too many, the last one also represents its successors: a reader
    // may then be visited without need, but none is missed.
    std::array<Change, kMostChanges> changes = {};
    std::uint32_t count = 0;

    void note(std::uint64_t time, double size) {
      while (count > 0 && changes[count - 1].size <= size) --count;
      if (count == kMostChanges) changes[count - 1].time = time;
      else changes[count++] = {time, size};
    }
    // Largest change since `time`; older ones are dropped.
    double missed_since(std::uint64_t time) {
      std::uint32_t seen = 0;
      while (seen < count && changes[seen].time <= time) ++seen;
      std::move(changes.begin() + seen, changes.begin() + count, changes.begin());
      count -= seen;
      return count == 0 ? 0 : changes[0].size;
    }
  };
  struct Edge {
    std::uint32_t variable = 0, visit = 0;
    std::uint32_t before = kNowhere, after = kNowhere;  // neighbours in the variable's list
  };
  struct Made {
    std::uint32_t first_edge = 0, end_edge = 0;
    std::uint64_t made = 0;  // time of the change
  };
  struct Entry {
    double priority = 0;
    std::uint64_t made = 0;  // time of its visit, if it is urgent
    std::uint32_t position = 0;
  };

  std::uint32_t own(std::uint32_t visit) const { return static_cast<std::uint32_t>(lines_.size()) + visit; }

  void append(std::uint32_t e) {
    Line& line = lines_[edges_[e].variable];
    edges_[e].before = line.last;
    edges_[e].after = kNowhere;
    (line.last == kNowhere ? line.first : edges_[line.last].after) = e;
    line.last = e;
  }
  void remove(std::uint32_t e) {
    Line& line = lines_[edges_[e].variable];
    const auto [variable, visit, before, after] = edges_[e];
    (before == kNowhere ? line.first : edges_[before].after) = after;
    (after == kNowhere ? line.last : edges_[after].before) = before;
  }
  void reconsider(std::uint32_t variable) {
    Line& line = lines_[variable];
    const std::uint64_t made = visits_[edges_[line.first].visit].made;
    set(variable, line.missed_since(made), made);
  }

  void set(std::uint32_t entry, double priority, std::uint64_t made) {
    entries_[entry].priority = priority;
    entries_[entry].made = made;
    rise(entries_[entry].position);
    sink(entries_[entry].position);
  }
  bool before(std::uint32_t a, std::uint32_t b) const {
    const Entry &x = entries_[a], &y = entries_[b];
    return x.priority > y.priority || (x.priority == y.priority && x.made < y.made);
  }
  void swap(std::size_t i, std::size_t j) {
    std::swap(heap_[i], heap_[j]);
    entries_[heap_[i]].position = static_cast<std::uint32_t>(i);
    entries_[heap_[j]].position = static_cast<std::uint32_t>(j);
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

  std::vector<Line> lines_;    // by variable
  std::vector<Made> visits_;
  std::vector<Edge> edges_;     // grouped by visit
  std::vector<Entry> entries_;  // variables, then single visits
  std::vector<std::uint32_t> heap_;
  std::uint64_t now_ = 0;
};

}  // namespace dma
