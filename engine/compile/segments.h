// Compile pass, part of lower: segments, consecutive visits of scalar factors that one kernel call can serve.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/compile/draft.h"
#include "engine/compile/plan_data.h"
#include "engine/kinds/kind.h"

namespace dma {

// True if the message depends on parameters only.
inline bool is_constant(const Group::Port& port) { return port.message != nullptr && port.message->reads.empty(); }
// The ports with messages that are not constant.
PortSet changing(const Group& group, PortSet ports);

// Ports by group.
struct PortsRead {
  std::vector<PortSet> needed;  // by any message
  std::vector<PortSet> kept;    // by a visit that does not refresh them
};
PortsRead ports_read(const Draft& draft);

struct Segment {
  std::size_t begin = 0, end = 0;  // visits
  bool is_dependent = false;       // one of them reads a variable that an earlier one wrote to
  bool has_hub = false;            // one of them reads an element where many messages meet
};

class SegmentFinder {
 public:
  SegmentFinder(const Draft& draft, const PortsRead& read);

  // The longest segment from a visit on: same group and ports, consecutive slots; dependent only if it can be a chain.
  Segment from(std::size_t visit);
  // True if the visit has one target, and its arguments can be gathered slot by slot just before use.
  bool is_chainable(const Visit& visit) const;
  // True if the visit reads an element with so many messages that one pass of totals costs less than adding them up for
  // each slot.
  bool reads_hub(const Visit& visit) const;
  // The first slot of its group that the visit concerns.
  std::uint32_t slot_of(const Visit& visit) const {
    return draft_.places[visit.factor].first_slot + (visit.slot == kAllSlots ? 0 : visit.slot);
  }

 private:
  bool reads_what_was_written(const Visit& visit) const;
  void note_written(const Visit& visit);

  const Draft& draft_;
  const PortsRead& read_;
  std::vector<std::uint32_t> degree_;   // by element; empty: no factor visited slot by slot reads a hub
  std::vector<std::uint32_t> written_;  // variable -> the last segment that wrote to it
  std::uint32_t segment_ = 0;
};

}  // namespace dma
