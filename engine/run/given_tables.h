// The tables of a state that are data (State::set_table), and the incidence they define in place of the plan's.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/compile/compile.h"
#include "engine/compile/plan_data.h"

namespace dma {

class GivenTables {
 public:
  explicit GivenTables(const PlanData& plan);

  bool any() const { return !ports_.empty(); }
  // One element of the variable behind the port per (slot, term).
  void set(const PlanData& plan, FactorId factor, std::string_view port, std::span<const std::uint32_t> elements);
  // Call before a run: an Error if a table is missing, or if a slot meets an unknown element twice through one.
  void refresh(const PlanData& plan);
  void copy_from(const GivenTables& other);  // from a state of the same plan

  Incidence incidence(const PlanData& plan) const {
    if (!any()) return plan.incidence();
    return {first_incident_.data(), incident_slots_.data(), element_of_slot_.data()};
  }
  std::uint32_t element(const Group::Port& port, std::uint32_t q) const {
    return port.elements.is_given ? element_of_slot_[port.first_slot + q] : port.elements(q);
  }

 private:
  struct Port {
    std::uint32_t group, port;
    bool is_given = false;
  };
  static void check(const PlanData& plan, const Port& table, std::span<const std::uint32_t> elements);  // throws
  void check_all_given(const PlanData& plan) const;
  void check_repetitions(const PlanData& plan) const;

  std::vector<Port> ports_;
  std::vector<std::uint32_t> element_of_slot_, first_incident_, incident_slots_;
  bool is_stale_ = false;
};

}  // namespace dma
