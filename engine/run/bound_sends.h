// The kernel calls of a plan with addresses in place of positions: what a sweep walks. Made once for each State.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/compile/plan.h"
#include "engine/kinds/call.h"
#include "engine/kinds/incidence.h"
#include "engine/kinds/kind.h"
#include "engine/run/parameters.h"

namespace dma {

struct BoundSend {
  Kernel kernel = nullptr;
  SequenceKernel sequence_kernel = nullptr;
  Call call;
  Sequence sequence;
  const Sequence::Read* sequence_reads = nullptr;
  std::uint32_t first_read = 0;       // in the lists of views or of sequence reads
  std::uint32_t first_parameter = 0;  // in the list of parameter views
  std::uint32_t group = 0, port = 0, first = 0;
  std::uint64_t messages = 0;
  bool at_hubs = false;            // what a slot reads is gathered before it, where that is due
  PortSet refresh;                 // of a sequence at hubs: the ports on which it is
  bool reads_given_alone = false;  // sends the same in every sweep of a run
};

// One part of a walk: all its slots of a stretch, or one at a time.
struct BoundPart {
  BoundSend send;  // everything but how it reads
  WalkKernel kernel = nullptr;
  WalkRun run;
  std::uint32_t first_read = 0;
};

struct BoundWalk {
  struct Stretch {
    std::uint32_t first_part, parts, count;
  };
  std::vector<Stretch> stretches;
  bool is_beside_last = false;
  // With the walk before it, where both have one message; as the first or as the second of the pair.
  WalkPairKernel pair = nullptr;
  bool is_first_of_pair = false;
};

class BoundSends {
 public:
  // The arrays of a State, which must not move any more.
  struct Memory {
    MessageArrays messages, arrivals;
    double* scratch = nullptr;
    double* memory = nullptr;  // of kinds
    Incidence incidence = {};
  };

  BoundSends(const PlanData& plan, const Memory& memory, const Parameters& parameters);
  // Parameter i of the group has another place now.
  void rebind(std::uint32_t group, std::size_t i, const ParameterView& view);

  const std::vector<BoundSend>& constants() const { return constants_; }
  const std::vector<BoundSend>& of_sweep() const { return of_sweep_; }
  const std::vector<BoundWalk>& walks() const { return walks_; }
  const std::vector<BoundPart>& parts() const { return parts_; }  // of all walks

 private:
  BoundSend bind(const PlanData& plan, const Send& op, bool tracked);
  BoundSend bind_call(const PlanData& plan, std::uint32_t group, std::uint32_t port, double damping) const;
  BoundWalk bind(const PlanData& plan, const Walk& op);
  void bind_parameters(const PlanData& plan, const Parameters& parameters);
  void bind_sequence(const PlanData& plan, const Send& op, bool tracked, BoundSend& bound);
  void bind_plate(const PlanData& plan, const Send& op, bool tracked, BoundSend& bound);
  // The views of a call that begins at a later slot than the first of its group.
  std::uint32_t parameters_from(const Group& group, std::uint32_t first_parameter, std::uint32_t slot);
  PortView view(const ReadView& read, std::uint32_t terms, std::uint32_t first_slot) const;

  Memory memory_;
  std::vector<double> uniform_;  // zeros: both parameters of what a port without any message reads, term by term
  std::vector<PortView> port_views_;
  std::vector<Sequence::Read> sequence_reads_;
  std::vector<ParameterView> parameter_views_;
  std::vector<std::uint32_t> first_parameter_;  // of each group, in the list of views
  std::vector<BoundSend> constants_, of_sweep_;
  std::vector<BoundWalk> walks_;
  std::vector<BoundPart> parts_;
  std::vector<WalkRead> walk_reads_;
  std::vector<WalkSource> walk_sources_;
};

}  // namespace dma
