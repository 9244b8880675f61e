// The kernel calls of a plan with addresses in place of indices: the list that a sweep walks. Made once per State.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/compile/compile.h"
#include "engine/compile/plan_data.h"
#include "engine/kinds/call.h"
#include "engine/kinds/kind.h"
#include "engine/run/parameters.h"

namespace dma {

// One kernel call: a plate, or a segment of a chain.
struct BoundSend {
  Kernel kernel = nullptr;             // for a plate
  ChainKernel chain_kernel = nullptr;  // for a chain
  Call call;
  ChainSegment segment;               // for a chain
  std::uint32_t first_read = 0;       // index in the list of views, of chain reads or of table reads
  std::uint32_t first_parameter = 0;  // index in the list of parameter views
  std::uint32_t group = 0, port = 0, first = 0;
  std::uint64_t messages = 0;
  bool at_hubs = false;            // inputs at hubs are gathered slot by slot
  PortSet refresh;                 // for a chain at hubs: the ports to gather
  bool reads_given_alone = false;  // sends the same messages in every sweep of a run
};

struct BoundChain {
  struct Segment {
    std::uint32_t first_send, sends, count;  // if there are several sends, each handles one slot at a time
  };
  std::vector<Segment> segments;
  // Runs together with the previous chain, if both have one message; first or second of the pair.
  ChainPairKernel pair = nullptr;
  bool is_first_of_pair = false;
};

class BoundSends {
 public:
  // The arrays of a State, which must not move any more.
  struct Memory {
    MessageArrays messages, arrivals;
    double* scratch = nullptr;
    double* memory = nullptr;  // memory of kinds
    Incidence incidence = {};
  };

  BoundSends(const PlanData& plan, const Memory& memory, const Parameters& parameters);
  BoundSends(const BoundSends&) = delete;
  BoundSends& operator=(const BoundSends&) = delete;
  // Sets the new address of parameter i of the group.
  void rebind(std::uint32_t group, std::size_t i, const ParameterView& view);

  const std::vector<BoundSend>& constants() const { return constants_; }
  const std::vector<BoundSend>& of_sweep() const { return of_sweep_; }
  const std::vector<BoundChain>& chains() const { return chains_; }
  const std::vector<BoundSend>& of_chains() const { return of_chains_; }

 private:
  BoundSend bind(const PlanData& plan, const Send& op, bool tracked);
  BoundSend bind_call(const PlanData& plan, std::uint32_t group, std::uint32_t port, bool tracked) const;
  BoundSend bind(const PlanData& plan, const ChainSend::Message& message, std::uint32_t count, int step);
  BoundChain bind(const PlanData& plan, const ChainSend& op);
  void bind_parameters(const PlanData& plan, const Parameters& parameters);
  void bind_segment(const PlanData& plan, const Send& op, BoundSend& bound);
  void bind_plate(const PlanData& plan, const Send& op, BoundSend& bound);
  void find_pair(const PlanData& plan, const ChainSend& op, BoundChain& bound) const;
  // Views for a call that begins after the first slot of its group.
  std::uint32_t parameters_from(const Group& group, std::uint32_t first_parameter, std::uint32_t slot);
  PortView view(const ReadView& read, std::uint32_t terms, std::uint32_t first_slot) const;

  Memory memory_;
  bool keeps_widening_;          // see run.h
  ChainTable table_;             // segments point to it
  std::vector<double> uniform_;  // zeros: both parameters of a port that no message reaches, term by term
  std::vector<PortView> port_views_;
  std::vector<ParameterView> parameter_views_;
  std::vector<std::uint32_t> first_parameter_;  // by group, index in the list of views
  std::vector<BoundSend> constants_, of_sweep_, of_chains_;
  std::vector<BoundChain> chains_;
  std::vector<ChainRead> chain_reads_;
  std::vector<ChainSource> chain_sources_;
  std::vector<TableRead> table_reads_;
};

}  // namespace dma
