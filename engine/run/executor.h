// Walks the operations of a plan on the arrays of a state.
#pragma once

#include <cstdint>

#include "engine/run/report.h"
#include "engine/run/state.h"
#include "engine/run/trend.h"
#include "engine/run/urgency.h"

namespace dma {

class Executor {
 public:
  struct Total {
    std::uint64_t messages = 0, faults = 0, replaced = 0;
    double change = 0;
    // The first refused message.
    std::uint32_t fault_group = kNowhere, fault_port = 0;
    std::uint64_t fault_slot = 0;
  };

  explicit Executor(State& state) : state_(state), plan_(*state.plan_) {}

  void check_observed() const;   // throws if an observed variable has no value
  void refresh_constants();      // messages that depend on parameters alone, if those changed
  Total refused_constants() const;  // the faults among them
  void start_fresh();            // uniform, as far as a sweep may read them
  // All operations once; `again`: without those that would send what they sent in the sweep before.
  void sweep(Total& total, bool again = false);
  // Visits in order of urgency until the most urgent is at most `tolerance` or `limit` visits are done; returns their
  // number. total.change is then the urgency that is left; the trend and the report hear of every visit.
  std::uint64_t sweep_by_urgency(double tolerance, std::uint64_t limit, Total& total, Trend& trend, Report& report);

  // The product of all messages of factors at an element, without a value observed or a context learned elsewhere.
  Natural prediction(VariableId variable, std::uint32_t element) const;
  // context of a shared variable *= messages of the example's factors to it. `has_points`: a point mass may be in the context
  // already; returns whether one may be there now. Throws Contradiction where two different ones meet.
  bool absorb(VariableId shared_variable, bool has_points);
  // to *= messages of the example's factors to a shared variable.
  void multiply_by_example(VariableId shared_variable, const MessageArrays& to) const;
  // The constant messages to a shared variable that belong to its context move to `to`, which is multiplied by them.
  void take_constants(VariableId shared_variable, const MessageArrays& to);
  // elements *= messages of the model's own factors to a shared variable.
  void multiply_by_model(VariableId shared_variable, std::span<Natural> elements) const;

  // Throws Contradiction where two different point masses meet.
  void check_contradictions();
  // The smallest |mean| / sd that the last sweep's message functions of watching kinds were given.
  void find_signal_to_noise(Report& report) const;

 private:
  void execute(std::size_t first, std::size_t last, std::size_t first_send, bool again, Total& total);
  void send(const State::BoundSend& op, Total& total);
  void inform_readers(std::uint32_t now, double change, UrgencyQueue& queue) const;
  template <class Visit>
  void for_each_message(const PlanData::Variable& variable, const PlanData::Variable::End& end, const Visit& visit) const;

  State& state_;
  const PlanData& plan_;
};

}  // namespace dma
