// A schedule: the order of visits to factors, as data. schedules/ has the schedulers that make one.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
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
  double tolerance = 1e-10;  // sweeps stop when no message changes by more than this (gaussian.h)
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

struct Resolved;  // resolve.h

// A message from a factor to one of its ports, of all its slots or of one.
struct MessageId {
  std::uint32_t factor;
  std::uint32_t port;
  std::uint32_t slot = kAllSlots;
};

struct ExactOrder {
  std::vector<MessageId> messages;
  std::vector<Chained> chains;  // in the order of their first messages
};

using PortSets = std::array<PortSet, kMaxPorts>;  // one for each port

// The data flow of a resolved graph: the order of its factors, and the dependencies of its messages.
class Flow {
 public:
  explicit Flow(const Resolved& graph);

  std::size_t factors() const;                                                 // number of factors
  std::size_t ports() const { return ports_; }                                 // ports of all factors
  std::string name(std::size_t factor) const;                                  // given, or made from kind and number
  const Kind& kind(std::size_t factor) const;                                  // kind of a factor
  const std::string& port_name(std::size_t factor, std::size_t port) const;    // name of a port
  PortSet inputs(std::size_t factor) const { return input_ports_[factor]; }    // input ports
  PortSet outputs(std::size_t factor) const { return output_ports_[factor]; }  // output ports
  PortSet targets(std::size_t factor) const { return target_ports_[factor]; }  // ports that want a message
  // Ports the message to `port` reads.
  PortSet reads(std::size_t factor, std::size_t port) const { return class_reads_[class_[factor]][port]; }
  PortSet reads(std::size_t factor) const;  // ports any of its messages reads
  // The same number for factors whose messages one kernel call can compute.
  std::uint32_t kernel_class(std::size_t factor) const { return class_[factor]; }
  bool is_acyclic() const;     // true if the data flow has no directed cycle
  bool has_loops() const;      // true if the slots have an undirected loop, cut at observed variables
  void refuse_cycles() const;  // throws an Error that names a directed cycle of slots, if there is one
  // All factors, sorted by kernel class.
  std::vector<std::uint32_t> by_class() const;

  // Factors by levels: each level feeds later ones only, and lists equal kinds together. A directed cycle is an Error
  // that names it.
  std::vector<std::vector<std::uint32_t>> levels() const;

  // An order in which every message comes after all it depends on, so that one pass computes exact sum-product. It
  // exists if the graph, cut at observed variables, has no loops; empty otherwise. Plates are ordered as wholes if
  // possible, otherwise slot by slot if `slot_by_slot`.
  std::optional<ExactOrder> exact_order(bool slot_by_slot = true) const;
  // True if the visits are those of the last exact_order(), which needs no further proof.
  bool is_exact_order(const Schedule& schedule) const;

 private:
  const Resolved* graph_;
  std::vector<PortSet> input_ports_, output_ports_, target_ports_;
  std::vector<std::uint32_t> class_;
  std::size_t ports_ = 0;
  // Every factor leads to variables declared after its inputs, as in most graphs: there is no cycle to search for.
  bool leads_to_later_variables_ = true;
  std::vector<PortSets> class_reads_;      // by class
  mutable std::uint64_t exact_order_ = 0;  // checksum of the last exact order; 0: none
};

}  // namespace dma
