// The parameters of a state. Factors that a plan merged may share one number there, and so may the slots of a plate; as
// soon as one of them is told another number, each gets its own. Who sets nothing pays nothing.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/compile/plan.h"
#include "engine/kinds/call.h"

namespace dma {

class Parameters {
 public:
  explicit Parameters(const PlanData& plan);
  Parameters(Parameters&&) noexcept = default;
  Parameters& operator=(Parameters&&) noexcept = default;

  // Parameter i of a group, in the order in which its kind declares them. Stays as it is until that parameter is
  // separated.
  ParameterView view(std::uint32_t group, std::size_t i) const {
    const Entry& e = entries_[first_[group] + i];
    return {e.numbers, e.row, e.column, e.terms};
  }
  bool is_shared(std::uint32_t group, std::size_t i) const { return entries_[first_[group] + i].column == 0; }
  // Gives every slot of the group its own number, or its own terms, equal to those it shared.
  void separate(const PlanData& plan, std::uint32_t group, std::size_t i);
  // The numbers of so many slots from the given one on; of a shared parameter those of all slots.
  std::span<double> numbers(std::uint32_t group, std::size_t i, std::uint32_t slot, std::uint32_t slots);

  void copy_from(const PlanData& plan, const Parameters& other);

 private:
  struct Entry {
    double* numbers = nullptr;
    std::ptrdiff_t row = 0, column = 0;
    std::uint32_t terms = 1;
  };
  std::vector<double> as_planned_;
  std::vector<std::vector<double>> separated_;
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> first_;  // entry of each group
};

}  // namespace dma
