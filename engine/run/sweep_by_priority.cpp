// The part of Executor that makes visits in order of priority: see priority.h.
#include <algorithm>
#include <utility>

#include "engine/run/executor.h"
#include "engine/run/watch.h"

namespace dma {

std::uint64_t Executor::sweep_by_priority(double tolerance, std::uint64_t limit, Total& total, Divergence& divergence,
                                         const Watch& watch, Report& report, std::uint64_t& refused_before) {
  PriorityQueue& queue = *memory_.priority;
  queue.start();
  std::uint64_t next_look = total.messages + Watch::kMessagesBetweenLooks;
  const std::size_t round = plan_.schedule.visits.size();
  std::uint64_t visits = 0;
  double largest_change = 0;
  std::uint64_t refused = total.faults;
  while (visits < limit && queue.largest() > tolerance && !total.overflowed) {
    const std::uint32_t now = queue.take();
    const bool clean = total.faults == 0;
    total.change = 0;
    execute(plan_.first_operation[now], plan_.first_operation[now + 1], plan_.first_send[now], false, total);
    inform_readers(now, total.change, queue);
    // A damped message moves 1 - damping of its way; the rest keeps its priority.
    const bool sends = plan_.first_send[now] < plan_.first_send[now + 1];
    const double damping = sends ? memory_.sends.of_sweep()[plan_.first_send[now]].call.sink.damping : 0;
    if (damping > 0) queue.raise(now, total.change * damping);
    const int sweep = static_cast<int>(visits++ / round) + 1;
    if (clean && total.faults > 0) report.first_fault_sweep = sweep;
    largest_change = std::max(largest_change, total.change);
    if (visits % round != 0) {
      if (visits < round || total.messages < next_look) continue;
      next_look = total.messages + Watch::kMessagesBetweenLooks;
      if (watch.has_time()) continue;
      report.stop = Report::Stop::interrupted;
      break;
    }
    refused_before = std::exchange(refused, total.faults);
    report.sweeps = sweep;
    report.change = std::exchange(largest_change, 0.0);
    report.stop = Report::Stop::interrupted;
    if (divergence.runs_away(sweep, report.change)) {
      report.stop = Report::Stop::diverged;
      break;
    }
    if (!watch.goes_on(report)) break;
    report.stop = Report::Stop::limit;
  }
  total.change = queue.largest();
  return visits;
}

// A factor is not informed by its own message, unless it reaches the element by another slot as well.
void Executor::inform_readers(std::uint32_t now, double change, PriorityQueue& queue) const {
  for (const std::uint32_t variable : plan_.informed_by[now]) queue.inform(variable, change);
  if (plan_.reaches_an_element_twice[now]) queue.raise(now, change);
}

}  // namespace dma
