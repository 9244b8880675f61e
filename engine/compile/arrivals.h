// Part of the pass lower: places of the messages that arrive on ports. A variable with one other message shows that
// message itself (an alias). Several messages are combined element by element. Only ports that share elements with
// themselves or with merged factors are gathered slot by slot.
#pragma once

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "engine/compile/draft.h"
#include "engine/compile/plan_data.h"

namespace dma {

using PortKey = std::pair<std::uint32_t, std::uint32_t>;  // group, port

// The current place of the arrival on a port, and the messages it aliases.
struct ArrivalView {
  bool known = false;
  ReadView view;
  std::vector<std::pair<PortKey, std::uint32_t>> aliased;  // messages with their versions
  friend bool operator==(const ArrivalView&, const ArrivalView&) = default;
};

class ArrivalPlanner {
 public:
  // `copied`: ports whose aliases were overwritten before their last use, in an earlier attempt.
  ArrivalPlanner(Draft& draft, std::set<PortKey>& copied, const std::map<PortKey, ArrivalView>& from_last_sweep);

  // Call after a message was sent to the port: its aliases are then out of date.
  void note_sent(std::uint32_t group, std::uint32_t port) { ++version_[group][port]; }
  // In this sweep, or in the sweep before if there is one.
  bool is_sent(std::uint32_t group, std::uint32_t port) const { return !once_ || version_[group][port] > 0; }

  // Appends the operations that refresh the arrival on a port of an unmerged factor.
  void refresh(std::uint32_t factor, std::uint32_t group, std::uint32_t port);
  // The current arrivals on the port.
  ReadView view(std::uint32_t group, std::uint32_t port);

  // Appends an operation that gathers `count` slots of a port from `first` on.
  void gather(std::uint32_t group, std::uint32_t port, std::uint32_t first, std::uint32_t count);
  // The gathered arrivals of the port, slot by slot.
  ReadView gathered(std::uint32_t group, std::uint32_t port);
  // Allocates them.
  void reserve(std::uint32_t group, std::uint32_t port);

  // True if an alias was overwritten before its last use: repeat the attempt with that port copied.
  bool is_stale() const { return stale_; }
  bool uses_incidence() const { return uses_incidence_; }
  void use_incidence() { uses_incidence_ = true; }
  // Stored arrivals at the end of a sweep, which the next sweep reads before it refreshes them.
  std::map<PortKey, ArrivalView> at_end_of_sweep() const;

 private:
  struct Sources {
    std::vector<Combine::Source> list;
    std::vector<std::pair<PortKey, std::uint32_t>> versions;
    bool usable = true;
  };
  Sources sources_of(std::uint32_t g, std::uint32_t p, const PlanData::Variable& variable) const;
  ArrivalView from_sources(std::uint32_t g, std::uint32_t p, const PlanData::Variable& variable, Sources sources,
                           ReadView view);

  const Resolved& graph_;
  PlanData& plan_;
  std::set<PortKey>& copied_;
  const bool once_;
  std::vector<std::vector<std::uint32_t>> version_;  // by group and port: times sent so far
  std::vector<std::vector<ArrivalView>> arrival_;    // by group and port
  bool stale_ = false, uses_incidence_ = false;
};

}  // namespace dma
