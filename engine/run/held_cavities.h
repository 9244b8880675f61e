// The cavities of a state that are held as moments for a while (see kinds/held.h): those of shared variables that the
// kernels of one group alone read, and that all of these kernels know how to read so.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/compile/plan.h"
#include "engine/kinds/held.h"

namespace dma {

class HeldCavities {
 public:
  // What an operation of the sweep (by its number) does while the cavity is held; without a kernel, nothing: what it
  // would combine is combined already.
  struct Use {
    HeldKernel kernel = nullptr;
    HeldCavity* cavity = nullptr;
    bool is_first = false;  // of a sweep
  };

  explicit HeldCavities(const PlanData& plan);

  // False, and nothing is done, if this cavity cannot be held: because of the plan, or because it holds a message that
  // is not proper or is far from 1.
  bool hold(VariableId variable, const MessageArrays& messages, const MessageArrays& arrivals);
  bool is_held(VariableId variable) const;
  // What was learned goes back to the natural parameters; a precision does not lose by it. Whether one is a point mass
  // now.
  bool release();
  // Whatever is held is given up without that.
  void drop();

  // Of an operation whose cavity is held.
  Use* use(std::size_t operation) {
    return held_ == 0 || uses_[operation].cavity == nullptr ? nullptr : &uses_[operation];
  }

 private:
  struct Candidate {
    std::uint32_t variable, first_slot, size, slots, terms;
    std::vector<std::pair<std::uint32_t, HeldKernel>> uses;  // by operations
    std::uint32_t second_slots = kNowhere;                   // messages to a second port that all slots share
    std::uint32_t combined = kNowhere;                       // where their product is read
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
