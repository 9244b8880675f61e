// The data flow of a resolved graph: which factor feeds which, in what order, and which messages need which others.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
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
  std::size_t ports() const { return ports_; }                                 // of all of them
  std::string name(std::size_t factor) const;                                  // given, or made from kind and number
  const Kind& kind(std::size_t factor) const;                                  // kind of a factor
  const std::string& port_name(std::size_t factor, std::size_t port) const;    // name of a port
  PortSet inputs(std::size_t factor) const { return input_ports_[factor]; }    // ports that the data flow enters by
  PortSet outputs(std::size_t factor) const { return output_ports_[factor]; }  // ports that it leaves by
  PortSet targets(std::size_t factor) const { return target_ports_[factor]; }  // somebody wants a message there
  // Ports the message to `port` reads.
  PortSet reads(std::size_t factor, std::size_t port) const { return class_reads_[class_[factor]][port]; }
  PortSet reads(std::size_t factor) const;  // ports any of its messages reads
  // Equal for factors whose messages one kernel call can compute.
  std::uint32_t kernel_class(std::size_t factor) const { return class_[factor]; }
  bool is_acyclic() const;     // true if no path of the data flow comes back
  bool has_loops() const;      // slot by slot, cut at observed variables
  void refuse_cycles() const;  // a directed cycle of slots is an Error that names it
  // All factors, equal kernel classes together.
  std::vector<std::uint32_t> by_class() const;

  // Factors, those that feed others first; within a level nobody feeds anybody and equal kinds stand together.
  // A directed cycle is an Error that names it.
  std::vector<std::vector<std::uint32_t>> levels() const;

  // An order in which every message comes after all it depends on: it exists when the graph, cut at observed variables,
  // has no loops; then one pass computes exact sum-product. Empty otherwise. Plates as wholes where that is possible;
  // otherwise slot by slot, if that is wanted.
  std::optional<ExactOrder> exact_order(bool slot_by_slot = true) const;
  // Whether the visits are those of the order that exact_order returned last: nothing is left to prove then.
  bool is_exact_order(const Schedule& schedule) const;

 private:
  const Resolved* graph_;
  std::vector<PortSet> input_ports_, output_ports_, target_ports_;
  std::vector<std::uint32_t> class_;
  std::size_t ports_ = 0;
  // Each factor leads from variables to others that were declared after them, as in most graphs written down from
  // causes to effects: there is no cycle then, and nothing to search.
  bool leads_to_later_variables_ = true;
  std::vector<PortSets> class_reads_;      // by class
  mutable std::uint64_t exact_order_ = 0;  // a checksum of it; 0: none
};

}  // namespace dma
