// Simulates workers of several processes: each is a thread.
#pragma once

#include <algorithm>
#include <barrier>
#include <functional>
#include <span>
#include <vector>

#include "engine/learn/worker_team.h"

namespace dma::oracle {

// A process of a team whose processes are all threads of this one: each waits for the others whenever they add numbers.
class MeetingTeam final : public WorkerTeam {
 public:
  struct Place {
    explicit Place(std::size_t count) : parts(count), met(static_cast<std::ptrdiff_t>(count)) {}
    std::vector<std::vector<double>> parts;
    std::barrier<> met;
  };
  MeetingTeam(Place& place, std::size_t rank) : place_(place), rank_(rank) {}
  std::size_t size() const override { return place_.parts.size(); }
  std::size_t first() const override { return rank_; }
  std::size_t local() const override { return 1; }
  void sum(std::span<const double> parts, std::span<double> total) override {
    std::ranges::fill(total, 0.0);
    meet(parts, [&](std::size_t w) {
      for (std::size_t i = 0; i < total.size(); ++i)
        total[i] = w == 0 ? place_.parts[w][i] : total[i] + place_.parts[w][i];
    });
  }
  void largest(std::span<double> values) override {
    meet(values, [&](std::size_t w) {
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::max(values[i], place_.parts[w][i]);
    });
  }
  std::vector<double> gather(std::span<const double> own) override {
    std::vector<double> all;
    meet(own, [&](std::size_t w) { all.insert(all.end(), place_.parts[w].begin(), place_.parts[w].end()); });
    return rank_ == 0 ? all : std::vector<double>();
  }

 private:
  void meet(std::span<const double> own, const std::function<void(std::size_t)>& hear) {
    place_.parts[rank_] = {own.begin(), own.end()};
    place_.met.arrive_and_wait();
    for (std::size_t w = 0; w < size(); ++w) hear(w);
    place_.met.arrive_and_wait();
  }
  Place& place_;
  std::size_t rank_;
};

}  // namespace dma::oracle
