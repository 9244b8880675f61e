// Walks the operations of a plan on the arrays of a state.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/run/divergence.h"
#include "engine/run/run.h"
#include "engine/run/state_data.h"
#include "engine/run/sweep_memory.h"

namespace dma {

struct ChainPosition;
class Watch;

class Executor {
 public:
  struct Total {
    std::uint64_t messages = 0, faults = 0, replaced = 0;
    double change = 0;
    bool overflowed = false;  // see Outcome
    // Location of the first refused message.
    std::uint32_t fault_group = kNowhere, fault_port = 0;
    std::uint64_t fault_slot = 0;
  };

  explicit Executor(State& state) : Executor(*state.data_) {}
  static void set_end(State& state, std::optional<Report::Stop> stop) { state.ended_ = stop; }

  void check_observed() const;      // throws if an observed variable has no value
  void refresh_constants();         // messages that depend on parameters only, if those changed
  Total refused_constants() const;  // faults among constant messages
  void refresh_tables();            // the incidence, if tables that are data changed
  void start_fresh();               // makes messages uniform, as far as a sweep may read them
  // Runs all operations once; `again` skips operations that would repeat the messages of the last sweep. Returns false
  // if the watch's time ended before all were done.
  bool sweep(Total& total, bool again = false, const Watch* watch = nullptr);
  // Visits in order of priority until the largest is at most `tolerance`, `limit` visits are done, the messages diverge
  // or the watch stops it (then report.stop is interrupted); returns the number of visits. total.change is then the
  // remaining priority. `refused_before`: number of messages refused before the last full round of visits.
  std::uint64_t sweep_by_priority(double tolerance, std::uint64_t limit, Total& total, Divergence& divergence,
                                  const Watch& watch, Report& report, std::uint64_t& refused_before);
  Divergence watch_divergence();  // tracks the messages of a new run
  // Location of a belief made improper by a message of negative precision, if any.
  std::optional<Place> improper_belief() const;

  // The product of all messages from factors at every element, without observed values or cavities. Fills as much of
  // the span as there are elements, and returns that number.
  std::size_t predict(VariableId variable, std::span<Natural> of_elements) const;
  // Holds the cavity of a shared variable as moments from here on, if possible (see held_cavities.h): every sweep then
  // updates it in place. release() ends that for all held cavities and returns whether one of them contains a point
  // mass. If the Holding ends without release(), what they learned is discarded.
  class Holding;
  bool hold(VariableId shared_variable);  // returns whether it is held
  bool release();

  // cavity of a shared variable *= messages of the example's factors to it. `has_points`: the cavity may contain a
  // point mass; returns whether it may now. Throws Contradiction if two different ones meet.
  bool absorb(VariableId shared_variable, bool has_points);
  // to *= messages of the example's factors to a shared variable. `met`, if given, receives the elements they reach.
  void multiply_by_example(VariableId shared_variable, const MessageArrays& to,
                           std::vector<std::uint32_t>* met = nullptr) const;
  // Moves the constant messages to a shared variable that belong to its cavity to `to`, which is multiplied by them.
  void take_constants(VariableId shared_variable, const MessageArrays& to);
  // elements *= messages of the model's own factors to a shared variable.
  void multiply_by_model(VariableId shared_variable, std::span<Natural> elements) const;

 private:
  bool execute(std::size_t first, std::size_t last, std::size_t first_send, bool again, Total& total,
               const Watch* watch = nullptr);
  void send(const BoundSend& op, Total& total);
  // Runs the kernel of a plate, or of a segment of a chain.
  void compute(const BoundSend& op, Outcome& outcome);
  void compute(const BoundSend& op, const ChainSegment& segment, Outcome& outcome);
  // The same if messages of negative precision may arrive (widening.cpp): slot by slot.
  struct Slot;
  void compute_among_widening(const BoundSend& op, const Slot& at, Outcome& outcome);
  void send(const BoundSend& op, HeldCavities::Use& held, Total& total);
  // One slot of a segment, if it reads elements at hubs, or some variables are frozen: the next slot may read its
  // message.
  void send_slot(const BoundSend& op, std::uint64_t step, Outcome& outcome);
  static std::size_t port_at(const Group& group, std::size_t slot);  // the port whose message is in that slot
  std::size_t send(std::span<const BoundChain> chains, Total& total);
  void send(const BoundChain& op, Total& total);
  void send(const BoundChain& first, const BoundChain& second, ChainPairKernel pair, Total& total);
  void finish_segment(ChainPosition& at, Total& total);
  static void note(const BoundSend& op, const Outcome& outcome, Total& total);
  void inform_readers(std::uint32_t now, double change, PriorityQueue& queue) const;
  void gather_at_hubs(const BoundSend& op, std::int64_t slot);
  void update_hubs(const SlotRange& slots);
  // Calls use(range of slots) for each port that the operation sends to.
  template <class Use>
  void for_each_target(const BoundSend& op, const Use& use) const;

  explicit Executor(StateData& data) : state_(data), plan_(*data.plan), store_(data.store), memory_(*data.sweeping) {}

  StateData& state_;
  const PlanData& plan_;
  MessageStore& store_;
  SweepMemory& memory_;
};

class Executor::Holding {
 public:
  explicit Holding(Executor& executor) : executor_(executor) {}
  ~Holding() { executor_.memory_.held.drop(); }
  Holding(const Holding&) = delete;
  Holding& operator=(const Holding&) = delete;

 private:
  Executor& executor_;
};

}  // namespace dma
