#include "schedules/schedules.h"

#include "engine/compile/schedule.h"

namespace dma {

Scheduler residual(Iteration iteration) {
  return {"residual", [iteration](const Flow& flow) {
            Schedule schedule{"residual", {}, Schedule::Order::residual, iteration};
            for (std::uint32_t f = 0; f < flow.factors(); ++f)
              schedule.visits.push_back({f, flow.reads(f), flow.targets(f)});
            return schedule;
          }};
}

}  // namespace dma
