// Chains: plates that depend on themselves through a shift. No message of such a plate can be computed as a whole after
// all it depends on, but slot after slot it can. Looks at elements where the rest of the ordering looks at variables: a
// factor at the beginning of a chain need not wait for what reaches its other elements. A message is still sent for all
// its slots at once, so two chains that meet at inner elements have no order, though their scalar graph has no loop.
#pragma once

#include <vector>

#include "engine/compile/flow.h"

namespace dma {

// Messages of plates to be computed together, slot after slot: see Pace in recurrence.h.
struct MessageChain {
  std::vector<MessageId> messages;    // in the order in which they are computed at each time
  std::vector<std::int64_t> offsets;  // message i is at slot time - offsets[i]; none: its one message needs no chain
  int step = 1;
};

class ChainFinder {
 public:
  explicit ChainFinder(const Resolved& graph, const Flow& flow) : graph_(graph), flow_(flow) {}

  // Chains, and single messages, that need nothing but themselves and what was sent; `sent` by factor.
  std::vector<MessageChain> next(const std::vector<PortSet>& sent);

 private:
  struct Senders {
    std::vector<MessageId> single;  // to one element each, in the order of those
    std::vector<MessageId> others;
  };
  void list_chains();
  std::uint32_t first_element(MessageId m) const;
  template <class Visit>
  void for_each_sender(const Resolved::Factor& factor, const Resolved::Port& reading, const Visit& visit) const;

  const Resolved& graph_;
  const Flow& flow_;
  bool is_listed_ = false, has_chain_ = false;
  std::vector<Senders> senders_;  // by variable, if there is a chain
};

// Whether no slot of a factor lies on a cycle of the data flow, although the plates as wholes do.
bool flows_along_chains(const Resolved& graph);

}  // namespace dma
