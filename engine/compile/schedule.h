// A schedule: which factor is visited when, as data. The schedulers that make one are in schedules/.
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

// One visit of one factor, or of one of its slots: refresh what arrives on some ports, then send to some ports.
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
  bool is_beside_last;                // it needs nothing of the chain before it, nor that of it
  std::vector<std::int64_t> offsets;  // one for each message
  friend bool operator==(const Chained&, const Chained&) = default;
};

struct Iteration {
  // Sweeps repeat until the largest change of any message (call.h, change_between) is at most this.
  double tolerance = 1e-10;
  // ... or this many sweeps are done.
  int limit = 1000;
  // 0 <= damping < 1: the fraction of the old message that stays in the new one.
  double damping = 0;
};

struct Schedule {
  enum class Order {
    once,      // one sweep over the visits, on fresh messages
    repeated,  // sweeps over the visits until the iteration stops
    residual,  // at any time the visit whose arriving messages changed most since it was made last
  };
  std::string name;
  std::vector<Visit> visits;
  Order order = Order::once;
  Iteration iteration = {};
  // A literal that says why the answer is approximate: something is left out, or messages come before what they depend
  // on. Empty: compile() proves that nothing is (check_schedule.h), and gives a single sweep a reason where it cannot.
  std::string_view approximate = {};
  std::vector<Chained> chains = {};  // visits that are made together, slot after slot
};

// How a schedule is made from the flow of a graph.
struct Scheduler {
  std::string name;
  std::function<Schedule(const Flow&)> make;
  // A fused factor takes one visit where the original pair takes two, and has no message in between to be damped: only
  // schedulers whose sweeps pass straight through both may have them fused.
  bool allows_fusion = false;
};

// One line per visit: "forward  product1: refresh x, y; send z".
struct VisitedFactor {
  std::string name;
  const Kind* kind;
};
std::string describe(const Schedule& schedule, const std::function<VisitedFactor(std::size_t)>& factor);
std::string describe(const Schedule& schedule, const Flow& flow);  // a line for each visit

}  // namespace dma
