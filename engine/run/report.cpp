#include "engine/run/report.h"

#include <fmt/format.h>

#include "engine/compile/plan.h"

namespace dma {

std::string Place::text() const {
  if (plan == nullptr) return "nowhere";
  return fmt::format("{}.{}", plan->slot_name(group, slot), plan->groups[group].kind->ports()[port].name);
}

namespace {

std::string plural(std::uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string reason(const Report& report) {
  const std::string sweeps = plural(static_cast<std::uint64_t>(report.sweeps), "sweep");
  switch (report.stop) {
    case Report::Stop::exact: return fmt::format("exact after {}", sweeps);
    case Report::Stop::approximate: return std::string(report.why);
    case Report::Stop::converged:
      if (report.looped == nullptr) return fmt::format("converged after {}", sweeps);
      return fmt::format("converged after {}, {}: {}", sweeps,
                         report.has_exact_means ? "means exact, variances approximate" : "approximate", report.caveat());
    case Report::Stop::limit: return fmt::format("stopped at the limit of {}, not converged", sweeps);
    case Report::Stop::interrupted: return fmt::format("interrupted after {}, not converged", sweeps);
    case Report::Stop::diverged: return fmt::format("diverged, stopped after {}", sweeps);
    case Report::Stop::singular: return fmt::format("singular after {}", sweeps);
  }
  return {};
}

std::string refused(const Report& report) {
  if (report.faults == 0) return "no faults";
  return fmt::format("{} refused, the first to {} in sweep {}", plural(report.faults, "message"),
                     report.first_fault.text(), report.first_fault_sweep);
}

std::string joint_reason(const Report& report) {
  const JointReport& j = *report.joint;
  const std::string solves = plural(static_cast<std::uint64_t>(j.iterations), "solve");
  switch (report.stop) {
    case Report::Stop::exact: return fmt::format("exact after {}", solves);
    case Report::Stop::converged: return fmt::format("converged after {}", solves);
    case Report::Stop::singular: return fmt::format("singular after {}: nothing determines {}", solves, j.undetermined);
    case Report::Stop::diverged: return fmt::format("diverged, stopped after {}", solves);
    case Report::Stop::interrupted: return fmt::format("interrupted after {}, not converged", solves);
    case Report::Stop::approximate:
    case Report::Stop::limit: break;
  }
  return fmt::format("stopped after {}, not converged", solves);
}

std::string joint_line(const Report& report) {
  const JointReport& j = *report.joint;
  std::string text = fmt::format("{}: objective {:.6g}, gradient {:.2g}", joint_reason(report), j.objective, j.gradient);
  if (j.rejected > 0) text += fmt::format(", {} rejected", plural(static_cast<std::uint64_t>(j.rejected), "step"));
  if (j.refreshes > 0)
    text += fmt::format(", sites refreshed {} times, last change {:.2g}", j.refreshes, j.site_change);
  if (report.faults > 0) text += fmt::format(", {} refused", plural(report.faults, "message"));
  if (report.replaced > 0) text += fmt::format(", {} replaced", plural(report.replaced, "message"));
  return text;
}

std::string joint_text(const Report& report) {
  const JointReport& j = *report.joint;
  std::string text = fmt::format("stop: {}\nobjective: {:.10g}\ngradient: {:.3g}\nrejected: {}\n", joint_reason(report), j.objective,
                                 j.gradient, plural(static_cast<std::uint64_t>(j.rejected), "step"));
  if (j.refreshes > 0)
    text += fmt::format("sites: refreshed {} times, last change {:.3g}, {} refused, {} replaced\n", j.refreshes, j.site_change,
                        plural(report.faults, "message"), report.replaced);
  return text;
}

}  // namespace

std::string Report::caveat() const {
  if (looped == nullptr) return std::string(why);
  std::string text = fmt::format("the graph has loops ({})", looped->loop);
  if (correlation != 0)
    text += fmt::format(", and {} and {} are correlated by {:.3f}, which sweeps leave out; solve it by joint()",
                        looped->element_name(correlated[0]), looped->element_name(correlated[1]), correlation);
  return text;
}

std::string Report::line() const {
  if (joint) return joint_line(*this);
  std::string text = fmt::format("{}{} {}, {}", reason(*this), stop == Stop::approximate ? ";" : ":",
                                 plural(messages, "message"), refused(*this));
  if (replaced > 0) text += fmt::format(", {} replaced", plural(replaced, "message"));
  if (change > 0) text += fmt::format(", last change {:.2g}", change);
  return text;
}

std::string Report::text() const {
  if (joint) return joint_text(*this);
  std::string text = fmt::format("stop: {}\nmessages: {}\nfaults: {}\n", reason(*this), messages, refused(*this));
  if (replaced > 0) text += fmt::format("replaced: {}\n", plural(replaced, "message"));
  if (change > 0) text += fmt::format("largest change in the last sweep: {:.3g}\n", change);
  if (signal_to_noise >= 0)
    text += fmt::format("smallest signal-to-noise ratio: {:.3g} at {}{}\n", signal_to_noise, signal_to_noise_at.text(),
                        signal_to_noise < 2 ? " (the concentrated-input theorem needs 2)" : "");
  return text;
}

}  // namespace dma
