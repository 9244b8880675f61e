#include "engine/compile/schedule.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace dma {

namespace {

std::string ports(const Flow& flow, std::size_t factor, std::uint32_t mask) {
  std::vector<std::string> names;
  for (std::size_t p = 0; p < kMaxPorts; ++p)
    if (mask & (1u << p)) names.push_back(flow.port_name(factor, p));
  return names.empty() ? "-" : fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

std::string describe(const Schedule& schedule, const Flow& flow) {
  std::string text = fmt::format("{}: {} visits", schedule.name, schedule.visits.size());
  if (schedule.order != Schedule::Order::once)
    text += fmt::format(", repeated up to {} times to tolerance {:g}, damping {:g}", schedule.iteration.limit,
                        schedule.iteration.tolerance, schedule.iteration.damping);
  if (!schedule.approximate.empty()) text += fmt::format("; {}", schedule.approximate);
  text += "\n";
  for (const Visit& v : schedule.visits)
    text += fmt::format("  {}: refresh {}; send {}\n", flow.name(v.factor), ports(flow, v.factor, v.refresh),
                        ports(flow, v.factor, v.send));
  return text;
}

}  // namespace dma
