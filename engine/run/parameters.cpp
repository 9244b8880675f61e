#include "engine/run/parameters.h"

#include <algorithm>

namespace dma {

Parameters::Parameters(const PlanData& plan) : as_planned_(plan.parameters) {
  first_.reserve(plan.groups.size());
  for (const Group& group : plan.groups) {
    first_.push_back(static_cast<std::uint32_t>(entries_.size()));
    for (const Group::Parameter& p : group.parameters) {
      const auto terms = static_cast<std::ptrdiff_t>(p.terms);
      entries_.push_back(
          {as_planned_.data() + p.first, p.per_slot ? group.columns * terms : 0, p.per_slot ? terms : 0, p.terms});
    }
  }
}

void Parameters::separate(const PlanData& plan, std::uint32_t group, std::size_t i) {
  Entry& entry = entries_[first_[group] + i];
  const std::size_t terms = entry.terms, slots = plan.groups[group].slots;
  std::vector<double>& own = separated_.emplace_back(slots * terms);
  for (std::size_t s = 0; s < slots; ++s)
    std::copy_n(entry.numbers, terms, own.begin() + static_cast<std::ptrdiff_t>(s * terms));
  entry.numbers = own.data();  // growing the outer list moves the inner lists, not their contents
  entry.column = static_cast<std::ptrdiff_t>(terms);
  entry.row = std::ptrdiff_t{plan.groups[group].columns} * entry.column;
}

std::span<double> Parameters::numbers(std::uint32_t group, std::size_t i, std::uint32_t slot, std::uint32_t slots) {
  const Entry& entry = entries_[first_[group] + i];
  return {entry.numbers + std::ptrdiff_t{slot} * entry.column,
          (entry.column == 0 ? 1 : std::size_t{slots}) * entry.terms};
}

void Parameters::copy_from(const PlanData& plan, const Parameters& other) {
  for (std::uint32_t g = 0; g < plan.groups.size(); ++g)
    for (std::size_t i = 0; i < plan.groups[g].parameters.size(); ++i) {
      if (is_shared(g, i) && !other.is_shared(g, i)) separate(plan, g, i);
      const auto to = numbers(g, i, 0, plan.groups[g].slots);
      const Entry& from = other.entries_[other.first_[g] + i];
      for (std::size_t k = 0; k < to.size(); ++k) to[k] = from.numbers[from.column == 0 ? k % from.terms : k];
    }
}

}  // namespace dma
