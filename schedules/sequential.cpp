#include "schedules/schedules.h"

#include "schedules/sweeps.h"

namespace dma {

Scheduler sequential(Iteration iteration) {
  return {"sequential",
          [iteration](const Flow& flow) {
            Schedule schedule{"sequential", {}, Schedule::Order::repeated, iteration};
            const Levels levels = levels_or_all(flow);
            append_forward(flow, levels, schedule.visits);
            append_backward(flow, levels, schedule.visits);
            return schedule;
          },
          iteration.damping == 0};
}

}  // namespace dma
