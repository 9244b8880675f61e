// The data flow of a resolved graph: the order of its factors, and the dependencies of its messages.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/compile/schedule.h"
#include "engine/kinds/port_set.h"

namespace dma {

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
