#include "schedules/schedules.h"

#include "schedules/sweeps.h"

namespace dma {

Scheduler forward_backward() {
  return {"forward_backward",
          [](const Flow& flow) {
            Schedule schedule{"forward_backward", {}};
            flow.refuse_cycles();  // even where the messages could be ordered
            if (auto order = flow.exact_order()) {
              schedule.visits.reserve(order->messages.size());
              for (const auto& [factor, port, slot] : order->messages)
                schedule.visits.push_back({factor, flow.reads(factor, port), PortSet{port}, slot});
              schedule.chains = std::move(order->chains);
            } else {
              const auto levels = flow.levels();
              append_forward(flow, levels, schedule.visits);
              append_backward(flow, levels, schedule.visits);
              schedule.approximate =
                  flow.has_loops()
                      ? "one sweep of a graph with loops: approximate; iterate with flooding, sequential or residual"
                      : "one sweep of messages that need each other: approximate; iterate with flooding or sequential";
            }
            return schedule;
          },
          true};
}

Scheduler forward() {
  return {"forward",
          [](const Flow& flow) {
            Schedule schedule{"forward", {}};
            schedule.approximate = "one sweep forward: approximate; observations downstream do not count";
            append_forward(flow, flow.levels(), schedule.visits);
            return schedule;
          },
          true};
}

}  // namespace dma
