#include "engine/compile/schedule.h"

#include <fmt/format.h>

#include "engine/support/text.h"

namespace dma {

namespace {

std::string names_of(const Kind& kind, PortSet ports) {
  std::vector<std::string> names;
  for (const std::uint32_t p : ports) names.push_back(kind.ports()[p].name);
  return names.empty() ? "-" : joined(names);
}

}  // namespace

std::string describe(const Schedule& schedule, const Flow& flow) {
  return describe(schedule, [&](std::size_t factor) { return VisitedFactor{flow.name(factor), &flow.kind(factor)}; });
}

std::string describe(const Schedule& schedule, const std::function<VisitedFactor(std::size_t)>& factor) {
  std::string text = fmt::format("{}: {} visits", schedule.name, schedule.visits.size());
  if (schedule.order != Schedule::Order::once)
    text += fmt::format(", repeated up to {} times to tolerance {:g}, damping {:g}", schedule.iteration.limit,
                        schedule.iteration.tolerance, schedule.iteration.damping);
  if (!schedule.approximate.empty()) text += fmt::format("; {}", schedule.approximate);
  text += "\n";
  for (const Visit& v : schedule.visits) {
    const VisitedFactor visited = factor(v.factor);
    text += fmt::format("  {}{}: refresh {}; send {}\n", visited.name,
                        v.slot == kAllSlots ? "" : fmt::format("[{}]", v.slot), names_of(*visited.kind, v.refresh),
                        names_of(*visited.kind, v.send));
  }
  return text;
}

}  // namespace dma
