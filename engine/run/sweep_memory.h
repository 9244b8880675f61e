// Working memory of sweeps beside the messages: the operations with their addresses, and data kept between operations.
// Made with a State; used only by Executor and Diagnosis.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/compile/plan_data.h"
#include "engine/run/bound_sends.h"
#include "engine/run/divergence.h"
#include "engine/run/gather.h"
#include "engine/run/held_cavities.h"
#include "engine/run/hubs.h"
#include "engine/run/priority.h"

namespace dma {

struct SweepMemory {
  SweepMemory(const PlanData& plan, const BoundSends::Memory& arrays, const Parameters& parameters)
      : sends(plan, arrays, parameters), total_tau(plan.elements), held(plan), hubs(plan) {
    if (plan.forms_totals) {
      total_rho.resize(plan.elements);
      total_magnitude.resize(plan.elements);
      total_stamp.resize(plan.elements);
    }
    if (plan.schedule.order != Schedule::Order::once) divergence.resize(plan.slots - plan.first_message);
    if (plan.schedule.order == Schedule::Order::residual) priority.emplace(plan.visits_at, plan.schedule.visits.size());
  }

  BoundSends sends;
  // Messages that depend on parameters only: whether a parameter has changed since, and the faults they had.
  bool constants_are_stale = true;
  struct Refused {
    std::uint64_t faults = 0;
    std::uint32_t group = kNowhere, port = 0;
    std::uint64_t slot = 0;
  } refused_constants;
  // By element, for GatherOthers; between two runs total_tau is free for other use.
  std::vector<double> total_tau, total_rho, total_magnitude;
  std::vector<std::uint32_t> total_stamp;
  std::uint32_t stamp = 0;
  HeldCavities held;
  Hubs hubs;
  // Inputs of one slot, if some have negative precision.
  struct Arrived {
    std::vector<Natural> raw, as_density;  // port by port
    std::vector<double> tau, rho, sent_tau, sent_rho;
    std::vector<PortView> views;
    std::vector<ParameterView> parameters;
    std::vector<std::uint8_t> free;
  } arrived;
  std::vector<Natural> beliefs;              // buffer of improper_belief
  std::vector<DivergenceRecord> divergence;  // one per message, for iterative schedules
  std::optional<PriorityQueue> priority;     // for residual order

  // Invalidates the totals of the last gathering.
  ElementTotals fresh_totals() {
    return {total_tau.data(), total_rho.data(), total_magnitude.data(), total_stamp.data(), ++stamp};
  }
};

}  // namespace dma
