// Chains: plates that depend on themselves through a shift, whose messages have an exact order only slot after slot.
// The order is found by elements, not by variables: a factor at one end of a chain need not wait for messages to other
// elements. Each message is still sent for all slots at once, so two chains that meet at inner elements have no order
// even if their scalar graph has no loop.
#pragma once

#include <vector>

#include "engine/compile/schedule.h"

namespace dma {

// Messages of plates that are computed together, slot after slot (Pace in recurrence.h).
struct MessageChain {
  std::vector<MessageId> messages;    // in the order in which they are computed at each time
  std::vector<std::int64_t> offsets;  // message i is at slot time - offsets[i]; empty for a single message
  int step = 1;
};

class ChainFinder {
 public:
  explicit ChainFinder(const Resolved& graph, const Flow& flow) : graph_(graph), flow_(flow) {}

  // Chains and single messages that read only themselves and messages already sent; `sent` is by factor.
  std::vector<MessageChain> next(const std::vector<PortSet>& sent);

 private:
  struct Senders {
    std::vector<MessageId> single;  // to one element each, in the order of elements
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

// True if the data flow has cycles of plates, but none of their slots.
bool flows_along_chains(const Resolved& graph);

}  // namespace dma
