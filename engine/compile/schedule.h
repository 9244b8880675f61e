// A schedule: the order of visits to factors, as data. schedules/ has the schedulers that make one.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/kinds/port_set.h"

namespace dma {

class Flow;
class Kind;

inline constexpr std::uint32_t kAllSlots = 0xffffffffu;

// A visit to a factor, or to one of its slots: refreshes the arrivals on some ports, then sends to some ports.
struct Visit {
  std::uint32_t factor;
  PortSet refresh;
  PortSet send;
  std::uint32_t slot = kAllSlots;
  friend bool operator==(const Visit&, const Visit&) = default;
};

// Consecutive messages of plates that are computed together, slot after slot: message first + i is at slot time -
// offsets[i], and time goes up (step 1) or down (step -1).
struct Chained {
  std::uint32_t first;
  int step;
  std::vector<std::int64_t> offsets;  // one per message
  friend bool operator==(const Chained&, const Chained&) = default;
};

struct Iteration {
  double tolerance = 1e-10;  // sweeps stop when no message changes by more than this (change.h)
  int limit = 1000;          // largest number of sweeps
  double damping = 0;        // fraction of the old message that stays in the new one, in [0, 1)
};

struct Schedule {
  enum class Order {
    once,      // one sweep over the visits, on fresh messages
    repeated,  // sweeps over the visits until the iteration stops
    residual,  // always the visit whose arriving messages changed most since it was last made
  };
  std::string name;
  std::vector<Visit> visits;
  Order order = Order::once;
  Iteration iteration = {};
  // Why the answer is approximate, as a literal: messages are left out, or come before others they depend on. Empty:
  // compile() proves that neither is so (check_schedule.h), or gives a single sweep a reason.
  std::string_view approximate = {};
  std::vector<Chained> chains = {};  // visits that are made together, slot after slot
};

// Makes a schedule from the flow of a graph.
struct Scheduler {
  std::string name;
  std::function<Schedule(const Flow&)> make;
  // True if sweeps pass straight through a pair of factors that may be fused: the fused factor takes one visit instead
  // of two, and has no message in between to be damped.
  bool allows_fusion = false;
};

struct VisitedFactor {
  std::string name;
  const Kind* kind;
};
// One line per visit: "forward  product1: refresh x, y; send z".
std::string describe(const Schedule& schedule, const std::function<VisitedFactor(std::size_t)>& factor);
std::string describe(const Schedule& schedule, const Flow& flow);

}  // namespace dma
