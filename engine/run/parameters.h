// The parameters of a state. Factors merged by the plan may share one number, and so may the slots of a plate; once one
// of them is set, each gets its own copy. Without a set_parameter() there is no cost.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/compile/compile.h"
#include "engine/compile/plan_data.h"
#include "engine/kinds/call.h"

namespace dma {

class Parameters {
 public:
  explicit Parameters(const PlanData& plan);
  Parameters(Parameters&&) noexcept = default;
  Parameters& operator=(Parameters&&) noexcept = default;

  // Parameter i of a group, in the order in which its kind declares them. Valid until that parameter is separated.
  ParameterView view(std::uint32_t group, std::size_t i) const {
    const Entry& e = entries_[first_[group] + i];
    return {e.numbers, e.row, e.column, e.terms};
  }
  bool is_shared(std::uint32_t group, std::size_t i) const { return entries_[first_[group] + i].column == 0; }
  // Gives every slot of the group its own copy of the shared numbers or terms.
  void separate(const PlanData& plan, std::uint32_t group, std::size_t i);
  // The numbers of `slots` slots from `slot` on; for a shared parameter, those of all slots.
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
  std::vector<std::uint32_t> first_;  // first entry of each group
};

}  // namespace dma
