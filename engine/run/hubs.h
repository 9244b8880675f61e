// Products of all messages but one at elements where very many meet, updated while single messages change: each such
// element has a binary tree of partial products. The message left out is never divided out, so no digits are lost
// beside a dominant message; an update and a query cost the logarithm of the number of messages.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/compile/compile.h"
#include "engine/compile/plan_data.h"

namespace dma {

class Hubs {
 public:
  // Memory for all elements of the plan, if any operation needs it.
  explicit Hubs(const PlanData& plan)
      : tau_(plan.has_hubs ? plan.slots : 0), rho_(tau_.size()), built_(plan.has_hubs ? plan.elements : 0) {}

  bool any() const { return !built_.empty(); }
  void forget() { ++current_; }  // call if any message may have changed

  // The product of all messages at the element of `own` except that of `own`.
  Natural all_but(const Incidence& incidence, const MessageArrays& messages, std::uint32_t own) {
    const std::uint32_t e = incidence.element[own], count = incidence.count_at(e);
    if (count <= kManyMessages) return dma::all_but(incidence, messages, own);
    if (built_[e] != current_) build(incidence, messages, e);
    Natural product;
    for (std::uint32_t node = count + place(incidence, own); node > 1; node /= 2)
      product = multiply(product, at(incidence, messages, e, node ^ 1));
    return product;
  }
  // Call after the message in this slot changed.
  void update(const Incidence& incidence, const MessageArrays& messages, std::uint32_t slot) {
    const std::uint32_t e = incidence.element[slot], count = incidence.count_at(e);
    if (count <= kManyMessages || built_[e] != current_) return;
    for (std::uint32_t node = (count + place(incidence, slot)) / 2; node > 0; node /= 2)
      form(incidence, messages, e, node);
  }

 private:
  // Node i is the product of nodes 2 i and 2 i + 1; nodes from `count` on are the messages.
  Natural at(const Incidence& incidence, const MessageArrays& messages, std::uint32_t e, std::uint32_t node) const {
    const std::uint32_t first = incidence.first[e], count = incidence.count_at(e);
    return node < count ? Natural{tau_[first + node], rho_[first + node]}
                        : messages[incidence.slots[first + node - count]];
  }
  void form(const Incidence& incidence, const MessageArrays& messages, std::uint32_t e, std::uint32_t node) {
    const Natural product = multiply(at(incidence, messages, e, 2 * node), at(incidence, messages, e, 2 * node + 1));
    tau_[incidence.first[e] + node] = product.tau;
    rho_[incidence.first[e] + node] = product.rho;
  }
  void build(const Incidence& incidence, const MessageArrays& messages, std::uint32_t e) {
    for (std::uint32_t node = incidence.count_at(e) - 1; node > 0; --node) form(incidence, messages, e, node);
    built_[e] = current_;
  }
  // Rank of a slot among those at its element, which are in order.
  static std::uint32_t place(const Incidence& incidence, std::uint32_t slot) {
    const auto slots = incidence.at(incidence.element[slot]);
    return static_cast<std::uint32_t>(std::ranges::lower_bound(slots, slot) - slots.begin());
  }

  std::vector<double> tau_, rho_;
  std::vector<std::uint32_t> built_;  // by element
  std::uint32_t current_ = 1;
};

}  // namespace dma
