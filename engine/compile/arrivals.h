// Compile pass, part of lower: where a kernel finds what arrives on a port. Most arrivals need no work: a variable with
// one other message shows that message itself (an alias); several are combined element by element; only ports that
// share elements with themselves or with merged factors are gathered slot by slot.
#pragma once

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "engine/compile/draft.h"
#include "engine/compile/plan_data.h"

namespace dma {

using PortKey = std::pair<std::uint32_t, std::uint32_t>;  // group, port

// How the arrival on a port is to be had at the moment, and the state of the messages it was taken from.
struct ArrivalView {
  bool known = false;
  ReadView view;
  std::vector<std::pair<PortKey, std::uint32_t>> aliased;  // messages it points into, with their version
  friend bool operator==(const ArrivalView&, const ArrivalView&) = default;
};

class ArrivalPlanner {
 public:
  // `copied` lists the ports whose aliases were overwritten while still wanted, in an earlier attempt.
  ArrivalPlanner(Draft& draft, std::set<PortKey>& copied, const std::map<PortKey, ArrivalView>& from_last_sweep);

  // A message was sent to the port: aliases of it now show something else.
  void note_sent(std::uint32_t group, std::uint32_t port) { ++version_[group][port]; }
  // Or in the sweep before, where there is one.
  bool is_sent(std::uint32_t group, std::uint32_t port) const { return !once_ || version_[group][port] > 0; }

  // Appends the operations that refresh the arrival on a port of an unmerged factor.
  void refresh(std::uint32_t factor, std::uint32_t group, std::uint32_t port);
  // The messages that a message function sees on the port now.
  ReadView view(std::uint32_t group, std::uint32_t port);

  // Appends a gathering of slots first .. first + count of a port.
  void gather(std::uint32_t group, std::uint32_t port, std::uint32_t first, std::uint32_t count);
  // All arrivals of the port, slot by slot, in memory of their own.
  ReadView gathered(std::uint32_t group, std::uint32_t port);
  // Makes sure there is memory for them.
  void reserve(std::uint32_t group, std::uint32_t port);

  // An alias was overwritten while still wanted: the attempt must be repeated with that port copied.
  bool is_stale() const { return stale_; }
  bool uses_incidence() const { return uses_incidence_; }
  void use_incidence() { uses_incidence_ = true; }
  // Arrivals in memory of their own at the end of a sweep: what the next sweep finds before it refreshes them.
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
  std::vector<std::vector<std::uint32_t>> version_;  // group, port -> times sent so far
  std::vector<std::vector<ArrivalView>> arrival_;        // group, port
  bool stale_ = false, uses_incidence_ = false;
};

}  // namespace dma
