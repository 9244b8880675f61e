#include <algorithm>
#include <limits>

#include "engine/compile/plan_data.h"
#include "engine/compile/resolve.h"
#include "engine/support/text.h"

namespace dma {

std::string FactorTable::Factor::name() const { return name_or_number(given_name, kind->name(), number); }

FactorTable::FactorTable(const Resolved& graph) {
  sort_of_.reserve(graph.factors.size());
  bool are_in_order = true;
  for (std::uint32_t i = 0; i < graph.factors.size(); ++i) {
    const Resolved::Factor& factor = graph.factors[i];
    are_in_order &= factor.number == i;
    // Kinds times methods: few, and mostly that of the factor before.
    const Sort sort{factor.kind, *factor.method};
    if (sort_of_.empty() || !(sorts_[sort_of_.back()] == sort)) {
      const auto found = std::ranges::find(sorts_, sort);
      if (found == sorts_.end() && sorts_.size() > std::numeric_limits<std::uint16_t>::max())
        fail("factor '{}': a plan has at most {} kinds with their methods", factor.name(), sorts_.size());
      sort_of_.push_back(static_cast<std::uint16_t>(found - sorts_.begin()));
      if (found == sorts_.end()) sorts_.push_back(sort);
    } else {
      sort_of_.push_back(sort_of_.back());
    }
    fused_ += !factor.fused_from.empty() || factor.number != i;
    if (!factor.given_name.empty() || !factor.fused_from.empty()) specials_[i] = {factor.given_name, factor.origins()};
  }
  if (are_in_order) return;
  for (const Resolved::Factor& factor : graph.factors) numbers_.push_back(factor.number);
}

FactorTable::Factor FactorTable::operator[](std::size_t i) const {
  const Sort& sort = sorts_[sort_of_[i]];
  const auto position = static_cast<std::uint32_t>(i);
  Factor factor{sort.kind, numbers_.empty() ? position : numbers_[i], {}, sort.method, {}};
  if (const auto special = specials_.find(position); special != specials_.end()) {
    factor.given_name = special->second.given_name;
    factor.origins = special->second.origins;
  } else {
    factor.origins.push_back(FactorId{factor.number});
  }
  return factor;
}

}  // namespace dma
