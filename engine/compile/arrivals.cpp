#include "engine/compile/arrivals.h"

#include <fmt/format.h>

#include <optional>

#include "engine/support/sizes.h"

namespace dma {

namespace {

std::vector<std::uint32_t> relative_to(std::uint32_t first, std::vector<std::uint32_t> elements) {
  for (auto& e : elements) e -= first;
  return elements;
}

ReadView whole_port(ReadView::From from, std::uint32_t first, const Group& group, const Group::Port& port) {
  return {from, first, group.columns * port.terms, port.terms};
}

// The strides by which a port's slots walk the elements of one variable, if there are any.
std::optional<ReadView> strides(const Group& group, const Group::Port& port) {
  const IndexMap& map = port.elements;
  if (!map.is_affine()) return {};
  ReadView view;
  if (map.is_identical()) return whole_port(ReadView::From::messages, 0, group, port);
  if (map.modulus == 1) return port.terms == 1 ? std::optional(view) : std::nullopt;
  if (map.divisor == 1 && map.modulus == port.terms) return view;  // every slot reads the same terms
  if (port.terms != 1) return {};
  if (map.divisor == 1 && map.modulus == group.columns) return view.column = 1, view;
  if (map.divisor == group.columns && map.modulus == IndexMap::kWhole) return view.row = 1, view;
  return {};
}

}  // namespace

ArrivalPlanner::ArrivalPlanner(Draft& draft, std::set<PortKey>& copied,
                               const std::map<PortKey, ArrivalView>& from_last_sweep)
    : graph_(draft.graph), plan_(draft.plan), copied_(copied),
      once_(draft.plan.schedule.order == Schedule::Order::once) {
  for (const Group& group : plan_.groups) {
    version_.emplace_back(group.ports.size(), 0);
    arrival_.emplace_back(group.ports.size());
  }
  for (const auto& [port, arrival] : from_last_sweep) arrival_[port.first][port.second] = arrival;
}

ReadView ArrivalPlanner::view(std::uint32_t g, std::uint32_t p) {
  const ArrivalView& arrival = arrival_[g][p];
  if (!arrival.known) {
    if (once_) return {};  // never refreshed in this sweep: nothing has arrived
    // The arrival of the sweep before, if some visit refreshes it.
    stale_ |= copied_.insert({g, p}).second;
    return {};
  }
  for (const auto& [source, version] : arrival.aliased)
    if (version_[source.first][source.second] != version) stale_ |= copied_.insert({g, p}).second;
  return arrival.view;
}

void ArrivalPlanner::reserve(std::uint32_t g, std::uint32_t p) {
  auto& port = plan_.groups[g].ports[p];
  if (port.first_arrival != kNowhere) return;
  port.first_arrival = plan_.arrivals;
  plan_.arrivals = add_sizes(plan_.arrivals, plan_.groups[g].slots * port.terms, [&] {
    return fmt::format("factor '{}': the arriving messages up to it", plan_.slot_name(g, 0));
  });
}

void ArrivalPlanner::gather(std::uint32_t g, std::uint32_t p, std::uint32_t first, std::uint32_t count) {
  reserve(g, p);
  const Group::Port& port = plan_.groups[g].ports[p];
  const std::uint32_t begin = first * port.terms;
  const bool is_rows = port.elements.is_affine() && port.elements.divisor == 1 && begin % port.elements.modulus == 0;
  const bool is_repeated = is_rows && port.elements.modulus != IndexMap::kWhole;
  plan_.operations.push_back(GatherOthers{g, p, begin, count * port.terms, is_repeated ? port.elements.modulus : 0});
  uses_incidence_ = true;
}

ReadView ArrivalPlanner::gathered(std::uint32_t g, std::uint32_t p) {
  reserve(g, p);
  const Group::Port& port = plan_.groups[g].ports[p];
  return whole_port(ReadView::From::arrivals, port.first_arrival, plan_.groups[g], port);
}

// The messages whose product arrives on a port of an unmerged factor from its only variable.
ArrivalPlanner::Sources ArrivalPlanner::sources_of(std::uint32_t g, std::uint32_t p,
                                                   const PlanData::Variable& variable) const {
  Sources sources;
  if (variable.first_slot != kNowhere) sources.list.push_back({variable.first_slot, variable.size, {}});
  if (variable.cuts) return sources;
  for (const auto& end : variable.ends) {
    const Group& other = plan_.groups[end.group];
    const auto& port = other.ports[end.port];
    if (end.in_cavity || port.message == nullptr || (once_ && version_[end.group][end.port] == 0)) continue;  // uniform
    const std::uint32_t slots = other.slots * port.terms;
    if (end.group == g && end.port == p) {
      if (is_injective(port.elements, slots)) continue;  // its own message
      sources.usable = false;
    }
    // Merged factors, ends with several variables and given tables reach other variables too.
    if (port.elements.is_given || other.members.size() > 1 ||
        graph_.factors[other.members[0]].ports[end.port].variables.size() > 1)
      sources.usable = false;
    IndexMap elements = port.elements;
    if (elements.is_affine()) elements.base -= variable.first_element;
    else elements.table = relative_to(variable.first_element, elements.table);
    sources.list.push_back({port.first_slot, slots, std::move(elements)});
    sources.versions.push_back({{end.group, end.port}, version_[end.group][end.port]});
  }
  return sources;
}

void ArrivalPlanner::refresh(std::uint32_t f, std::uint32_t g, std::uint32_t p) {
  const Group& group = plan_.groups[g];
  const auto& variables = graph_.factors[f].ports[p].variables;
  const auto view = strides(group, group.ports[p]);
  const PlanData::Variable variable = plan_.variables[variables[0].value];
  // For very many plates at one variable, lists of all other plates would outgrow the messages.
  if (variables.size() == 1 && view && (variable.cuts || variable.ends.size() <= kManyMessages)) {
    Sources sources = sources_of(g, p, variable);
    if (sources.usable) {
      arrival_[g][p] = from_sources(g, p, variable, std::move(sources), *view);
      return;
    }
  }
  gather(g, p, 0, group.slots);
  arrival_[g][p] = {true, gathered(g, p), {}};
}

ArrivalView ArrivalPlanner::from_sources(std::uint32_t g, std::uint32_t p, const PlanData::Variable& variable,
                                         Sources sources, ReadView view) {
  auto& list = sources.list;
  Group::Port& port = plan_.groups[g].ports[p];
  const std::uint32_t offset = port.elements.base - variable.first_element;
  if (!copied_.contains({g, p})) {
    if (list.empty()) return {true, {}, {}};
    const bool aligned =
        list[0].elements.is_identical() && list[0].elements.base == 0 && list[0].slots == variable.size;
    if (list.size() == 1 && aligned) {
      view.from = ReadView::From::messages;
      view.first = list[0].first_slot + offset;
      return {true, view, std::move(sources.versions)};
    }
  }
  if (port.first_combined == kNowhere) {
    port.first_combined = plan_.arrivals;
    plan_.arrivals = add_sizes(plan_.arrivals, variable.size, [&] {
      return fmt::format("variable '{}': the arriving messages up to it", variable.name);
    });
  }
  view.from = ReadView::From::arrivals;
  view.first = port.first_combined + offset;
  plan_.operations.push_back(Combine{port.first_combined, variable.first_element, variable.size, std::move(list)});
  return {true, view, {}};
}

std::map<PortKey, ArrivalView> ArrivalPlanner::at_end_of_sweep() const {
  std::map<PortKey, ArrivalView> left;
  for (const PortKey& port : copied_) {
    const ArrivalView& arrival = arrival_[port.first][port.second];
    if (!once_ && arrival.known && arrival.view.from == ReadView::From::arrivals) left[port] = arrival;
  }
  return left;
}

}  // namespace dma
