// Walks the operations of a plan on the arrays of a state.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/run/divergence.h"
#include "engine/run/report.h"
#include "engine/run/state.h"
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
    // The first refused message.
    std::uint32_t fault_group = kNowhere, fault_port = 0;
    std::uint64_t fault_slot = 0;
  };

  explicit Executor(State& state)
      : state_(state), plan_(*state.plan_), store_(state.store_), memory_(*state.sweeping_) {}

  void check_observed() const;   // throws if an observed variable has no value
  void refresh_constants();      // messages that depend on parameters alone, if those changed
  Total refused_constants() const;  // the faults among them
  void refresh_tables();         // which slots meet, if tables that are data changed
  void start_fresh();            // uniform, as far as a sweep may read them
  // All operations once; `again`: without those that would send what they sent in the sweep before.
  // False: the watch, if there is one, said that the time is over before all were done.
  bool sweep(Total& total, bool again = false, const Watch* watch = nullptr);
  // Visits in order of priority until the most urgent is at most `tolerance`, `limit` visits are done, the messages run
  // away or the watch says so (then report.stop is interrupted); returns their number. total.change is then the
  // priority that is left. `refused_before`: how many messages had been refused before the last whole round of visits.
  std::uint64_t sweep_by_priority(double tolerance, std::uint64_t limit, Total& total, Divergence& divergence,
                                  const Watch& watch, Report& report, std::uint64_t& refused_before);
  Divergence watch_divergence();  // of the messages of a run that begins
  // Where a message of negative precision has made a belief improper; nothing if none has.
  std::optional<Place> improper_belief() const;

  // The product of all messages of factors at every element, without a value observed or a cavity learned elsewhere.
  // Fills as much of the span as there are of them, and returns that.
  std::size_t predict(VariableId variable, std::span<Natural> of_elements) const;
  // From here on the cavity of a shared variable is held as moments, if it can be (see held_cavities.h): it learns from
  // every sweep by itself. release() ends that for all; returns whether a point mass is in one of them now. Without it
  // they have learned nothing when the Holding ends.
  class Holding;
  bool hold(VariableId shared_variable);  // whether it is
  bool release();

  // cavity of a shared variable *= messages of the example's factors to it. `has_points`: a point mass may be in the
  // cavity already; returns whether one may be there now. Throws Contradiction where two different ones meet.
  bool absorb(VariableId shared_variable, bool has_points);
  // to *= messages of the example's factors to a shared variable. `met`, if given, gains the elements they are for.
  void multiply_by_example(VariableId shared_variable, const MessageArrays& to,
                           std::vector<std::uint32_t>* met = nullptr) const;
  // The constant messages to a shared variable that belong to its cavity move to `to`, which is multiplied by them.
  void take_constants(VariableId shared_variable, const MessageArrays& to);
  // elements *= messages of the model's own factors to a shared variable.
  void multiply_by_model(VariableId shared_variable, std::span<Natural> elements) const;

 private:
  bool execute(std::size_t first, std::size_t last, std::size_t first_send, bool again, Total& total,
               const Watch* watch = nullptr);
  void send(const BoundSend& op, Total& total);
  // The kernel of a plate, or of a segment of a chain.
  void compute(const BoundSend& op, Outcome& outcome);
  void compute(const BoundSend& op, const ChainSegment& segment, Outcome& outcome);
  // The same where messages of negative precision may arrive (sites.cpp): slot by slot.
  struct Slot;
  void compute_among_sites(const BoundSend& op, const Slot& at, Outcome& outcome);
  void send(const BoundSend& op, HeldCavities::Use& held, Total& total);
  // The same where some variables are frozen (frozen.cpp): slower, and apart from the usual case.
  template <class Compute>
  void send_around_frozen(const BoundSend& op, std::ptrdiff_t first, std::size_t count, const Compute& compute,
                          Total& total);
  void send_around_frozen(const BoundSend& op, Total& total);
  void send_around_frozen(const BoundChain& op, Total& total);
  void send_slot_around_frozen(const BoundSend& op, std::uint64_t step, Total& total);
  static std::size_t port_at(const Group& group, std::size_t slot);
  std::size_t send(std::span<const BoundChain> chains, Total& total);
  void send(const BoundChain& op, Total& total);
  void send(const BoundChain& first, const BoundChain& second, ChainPairKernel pair, Total& total);
  void finish_segment(ChainPosition& at, Total& total);
  static void note(const BoundSend& op, const Outcome& outcome, Total& total);
  void inform_readers(std::uint32_t now, double change, PriorityQueue& queue) const;
  void gather_at_hubs(const BoundSend& op, std::int64_t slot);
  void send_at_hubs(const BoundSend& op, Total& total);
  void update_hubs(const BoundSend& op);
  void update_hubs(const Sink& sink, std::ptrdiff_t first, std::size_t count);

  State& state_;
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
