#include "schedules/schedules.h"

#include "engine/compile/schedule.h"

namespace dma {

Scheduler flooding(Iteration iteration) {
  return {"flooding", [iteration](const Flow& flow) {
            Schedule schedule{"flooding", {}, Schedule::Order::repeated, iteration};
            std::vector<Visit> sends;
            for (const std::uint32_t f : flow.by_class()) {
              schedule.visits.push_back({f, flow.reads(f), {}});
              sends.push_back({f, {}, flow.targets(f)});
            }
            schedule.visits.insert(schedule.visits.end(), sends.begin(), sends.end());
            return schedule;
          }};
}

}  // namespace dma
