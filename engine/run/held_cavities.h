// Cavities of a state that are temporarily held as moments (see kinds/held.h): those of shared variables that are read
// only by the kernels of one group, all of which have a held form.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/compile/compile.h"
#include "engine/compile/plan_data.h"
#include "engine/kinds/held.h"

namespace dma {

class HeldCavities {
 public:
  // The use of a held cavity by one operation of the sweep; an operation without a kernel is skipped, because its
  // product is already combined.
  struct Use {
    HeldKernel kernel = nullptr;
    HeldCavity* cavity = nullptr;
    bool is_first = false;  // in a sweep
  };

  explicit HeldCavities(const PlanData& plan);

  // Returns false, and does nothing, if this cavity cannot be held: because of the plan, or because it contains a
  // message that is not proper or is far from 1.
  bool hold(VariableId variable, const MessageArrays& messages, const MessageArrays& arrivals);
  bool is_held(VariableId variable) const;
  // Converts the moments back to natural parameters; a precision never decreases by rounding. Returns whether one is a
  // point mass now.
  bool release();
  // Discards held moments without converting them.
  void drop();

  // The use by an operation whose cavity is held.
  Use* use(std::size_t operation) {
    return held_ == 0 || uses_[operation].cavity == nullptr ? nullptr : &uses_[operation];
  }

 private:
  struct Candidate {
    std::uint32_t variable, first_slot, size, slots, terms;
    std::vector<std::pair<std::uint32_t, HeldKernel>> uses;  // by operation
    std::uint32_t second_slots = kNowhere;                   // messages to a second port that all slots share
    std::uint32_t combined = kNowhere;                       // slot where kernels read their product
    bool is_read_again = false;                              // see HeldCavity
    bool is_held = false;
    HeldCavity cavity = {};
    std::vector<double> memory = {};
  };
  static bool reads_alone(const PlanData& plan, std::uint32_t group, std::uint32_t port, Candidate& candidate);
  static void find_second(const PlanData& plan, const Group& group, Candidate& candidate);
  void let_go(Candidate& candidate);

  std::vector<Candidate> candidates_;
  std::vector<Use> uses_;  // by operation of the sweep
  std::size_t held_ = 0;
};

}  // namespace dma
