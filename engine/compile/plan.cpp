#include "engine/compile/compile.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/compile/plan_data.h"
#include "engine/kinds/kind.h"
#include "engine/kinds/registry.h"
#include "engine/support/text.h"

namespace dma {

namespace {

template <class T>
std::size_t bytes_of(const std::vector<T>& v) {
  return v.size() * sizeof(T);
}

std::string describe(const PlanData& plan, const Combine& op) {
  return fmt::format("combine   {} messages at {}", op.sources.size(),
                     plan.variables.at_element(op.first_element).name);
}
std::string describe(const PlanData& plan, const GatherOthers& op) {
  const Group& group = plan.groups[op.group];
  return fmt::format("gather    {} messages for {}.{}", op.count, group.kind->name(),
                     group.kind->ports()[op.port].name);
}
std::string describe(const PlanData& plan, const Send& op) {
  const Group& group = plan.groups[op.group];
  const auto& ports = group.kind->ports();
  std::vector<std::string> reads;
  const MessageFunction& message = *group.ports[op.port].message;
  for (const std::size_t p : message.reads) reads.push_back(ports[p].name);
  return fmt::format(
      "{} {}{} -> {} from ({}), {} slots, {}", op.is_chain ? "chain    " : "send     ",
      plan.factors.name(group.members[0]),
      group.members.size() > 1 ? fmt::format(" and {} more", group.members.size() - 1) : "",
      op.pair == nullptr ? ports[op.port].name : ports[op.port].name + ", " + ports[op.pair->second].name,
      joined(reads), op.count, message.method);
}

std::string describe(const PlanData& plan, const ChainSend& op) {
  std::vector<std::string> names;
  std::uint64_t messages = 0;
  for (const ChainSend::Segment& segment : op.segments)
    for (const ChainSend::Message& message : segment.messages) {
      const Group& group = plan.groups[message.group];
      const std::string name =
          fmt::format("{} -> {}", plan.factors.name(group.members[0]), group.kind->ports()[message.port].name);
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
      messages += segment.count;
    }
  return fmt::format("chain {} {}, {} messages", op.step > 0 ? "up  " : "down", joined(names, "; "), messages);
}

std::size_t messages_of(const ChainSend& chain) {
  std::size_t count = 0;
  for (const ChainSend::Segment& segment : chain.segments)
    count += std::size_t{segment.count} * segment.messages.size();
  return count;
}

}  // namespace

std::size_t Plan::bytes() const { return data_->bytes(); }
std::size_t Plan::messages_per_sweep() const { return data_->messages_per_sweep(); }
std::string Plan::schedule_text() const { return data_->schedule_text(); }

PlanData::Variable PlanData::variable(VariableId id) const {
  if (id.value >= variables.size() || !id.is_of(mark))
    fail("variable {} is not of the graph of this plan, which has {}; use the ids that this graph gave", id.value,
         variables.size());
  return variables[id.value];
}

PlanData::Membership PlanData::membership(FactorId id) const {
  if (id.value >= memberships.size() || !id.is_of(mark))
    fail("factor {} is not of the graph of this plan, which has {}; use the ids that this graph gave", id.value,
         memberships.size());
  return memberships[id.value];
}

std::size_t PlanData::bytes() const {
  std::size_t tables = bytes_of(element_of_slot) + bytes_of(first_incident) + bytes_of(incident_slots);
  if (given_tables > 0) tables *= 2;
  for (const Group& group : groups)
    for (const auto& port : group.ports) tables += bytes_of(port.elements.table.get());
  tables += variables.size() * sizeof(ValueSlots);
  if (has_hubs) tables += 2 * sizeof(double) * std::size_t{slots} + sizeof(std::uint32_t) * std::size_t{elements};
  return tables + 2 * sizeof(double) * (std::size_t{slots} + arrivals) + bytes_of(parameters) +
         (std::size_t{scratch} + memory) * sizeof(double) +
         elements * (!forms_totals ? sizeof(double) : 3 * sizeof(double) + sizeof(std::uint32_t));
}

std::size_t PlanData::messages_per_sweep() const {
  std::size_t count = 0;
  for (const Operation& op : operations)
    if (const ChainSend* chain = std::get_if<ChainSend>(&op))
      count += messages_of(*chain);
    else if (const Send* send = std::get_if<Send>(&op))
      count +=
          std::size_t{send->count} * groups[send->group].ports[send->port].terms * (send->pair != nullptr ? 2 : 1);
  return count;
}

std::string PlanData::schedule_text() const {
  return describe(schedule, [&](std::size_t factor) {
    return VisitedFactor{factors.name(factor), factors[factor].kind};
  });
}

std::string PlanData::slot_name(std::uint32_t group, std::uint64_t slot) const {
  const Group& g = groups[group];
  const std::size_t member = g.member_at(slot);
  const std::string name = factors.name(g.members[member]);
  return g.slots_of(member) == 1 ? name : fmt::format("{}[{}]", name, slot - g.first_slot[member]);
}

std::string PlanData::element_name(std::uint32_t element) const {
  const Variable v = variables.at_element(element);
  return v.elements() == 1 ? v.name.text()
                           : fmt::format("{}[{}]", v.name, (element - v.first_element) / v.family.components());
}

Plan::Plan() {
  static const auto empty = [] {
    PlanData data;
    data.registry = std::make_shared<const Registry>();
    return std::make_shared<const PlanData>(std::move(data));
  }();
  data_ = empty;
}

std::string describe(const Plan& handle) {
  const PlanData& plan = *handle;
  if (plan.solver != nullptr)
    return fmt::format("plan: {} variables, {} factors in {} groups\n{}\n", plan.variables.size(), plan.factors.size(),
                       plan.groups.size(), plan.solver_text);
  std::string text = fmt::format(
      "plan: {} variables, {} factors in {} groups, {} edge slots, {} messages a sweep, {:.1f} bytes per edge slot\n",
      plan.variables.size(), plan.factors.size(), plan.groups.size(), plan.slots, plan.messages_per_sweep(),
      static_cast<double>(plan.bytes()) / std::max(plan.slots, 1u));
  if (!plan.schedule.approximate.empty()) text += fmt::format("{}\n", plan.schedule.approximate);
  const auto list = [&](std::string_view title, const std::vector<Operation>& operations) {
    if (!operations.empty()) text += fmt::format("{}\n", title);
    for (const Operation& op : operations)
      text += fmt::format("  {}\n", std::visit([&](const auto& o) { return describe(plan, o); }, op));
  };
  list("once:", plan.constants);
  list(plan.schedule.order == Schedule::Order::once ? "sweep:" : "each sweep:", plan.operations);
  return text;
}

}  // namespace dma
