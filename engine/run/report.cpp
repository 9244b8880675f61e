#include "engine/run/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/compile/plan.h"
#include "engine/kinds/kind.h"

namespace dma {

std::string Place::text() const {
  if (plan == nullptr) return "nowhere";
  return fmt::format("{}.{}", plan->slot_name(group, slot), plan->groups[group].kind->ports()[port].name);
}

// Above this k, a mean over so many draws may be far off (Vehtari, Simpson, Gelman, Yao and Gabry 2024); and where few
// draws count, the Gaussian is far too wide.
bool JointReport::Fit::are_weights_good() const {
  constexpr double kMostK = 0.7, kLeastFraction = 0.1;
  return draws > 0 && k <= std::min(kMostK, 1 - 1 / std::log10(draws)) && effective >= kLeastFraction * draws;
}

// A mean that is off by half a standard deviation, a standard deviation by a third, or ten times as much beyond three
// of them as a Gaussian has: then beliefs are not to be relied on.
bool JointReport::Fit::are_steps_good() const {
  constexpr double kMoved = 0.5, kWider = 1.3, kNarrower = 0.7, kBeyond = 0.027, kAccepted = 0.5;
  return moved <= kMoved && wider <= kWider && wider >= kNarrower && beyond <= kBeyond && accepted >= kAccepted;
}

bool JointReport::Fit::is_good() const {
  constexpr double kElsewhere = 0.05;
  return are_weights_good() && are_steps_good() && elsewhere <= kElsewhere;
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
                         report.has_exact_means ? "means exact, variances approximate" : "approximate",
                         report.caveat());
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

std::string found_line(const Report& report) {
  return report.stop == Report::Stop::exact ? fmt::format("exact: {}", report.found)
                                            : fmt::format("{}; {}", reason(report), report.found);
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

std::string fit_line(const JointReport::Fit& fit) {
  if (fit.draws == 0) return fmt::format("not checked whether the Gaussian fits the posterior: {}", fit.why_not);
  std::string numbers = fmt::format("k {:.2g}, {:.0f} of {} draws effective", fit.k, fit.effective, fit.draws);
  if (!fit.are_steps_good())
    numbers += fmt::format(", steps of a sampler move {} by {:.2g} sd and make it {:.2g} times as wide", fit.farthest,
                           fit.moved, fit.wider);
  if (fit.elsewhere > 0) numbers += fmt::format(", another mode has {:.2g} of the mass", fit.elsewhere);
  if (fit.is_good()) return fmt::format("the Gaussian fits the posterior: {}", numbers);
  return fmt::format(
      "the Gaussian does not fit the posterior: {}, see \"Does the Gaussian fit?\" in tools/docs/methods.md", numbers);
}

std::string hypers_line(const JointReport::Hypers& hypers) {
  return fmt::format("hypers integrated over {} points, {:.1f} effective, largest weight {:.2g}", hypers.points,
                     hypers.effective, hypers.largest);
}

bool overflows(const JointReport& j) { return !std::isfinite(j.objective) || !std::isfinite(j.gradient); }

std::string joint_line(const Report& report) {
  const JointReport& j = *report.joint;
  std::string text = joint_reason(report) + (overflows(j) ? ": the objective or its gradient overflows"
                                                          : fmt::format(": objective {:.6g}, gradient {:.2g}",
                                                                        j.objective, j.gradient));
  if (j.rejected > 0) text += fmt::format(", {} rejected", plural(static_cast<std::uint64_t>(j.rejected), "step"));
  if (j.refreshes > 0)
    text += fmt::format(", sites refreshed {} times, last change {:.2g}", j.refreshes, j.site_change);
  if (report.faults > 0) text += fmt::format(", {} refused", plural(report.faults, "message"));
  if (report.replaced > 0) text += fmt::format(", {} replaced", plural(report.replaced, "message"));
  if (!j.unpredicted.empty()) text += fmt::format(", no Gaussian predicts {}", j.unpredicted);
  if (j.hypers) text += "; " + hypers_line(*j.hypers);
  if (j.fit) text += "; " + fit_line(*j.fit);
  return text;
}

std::string joint_text(const Report& report) {
  const JointReport& j = *report.joint;
  const std::string found = overflows(j) ? "objective: it or its gradient overflows"
                                         : fmt::format("objective: {:.10g}\ngradient: {:.3g}", j.objective, j.gradient);
  std::string text = fmt::format("stop: {}\n{}\nrejected: {}\n", joint_reason(report), found,
                                 plural(static_cast<std::uint64_t>(j.rejected), "step"));
  if (j.refreshes > 0)
    text += fmt::format("sites: refreshed {} times, last change {:.3g}, {} refused, {} replaced\n", j.refreshes,
                        j.site_change, plural(report.faults, "message"), report.replaced);
  if (!j.unpredicted.empty()) text += fmt::format("missing: no Gaussian predicts {}\n", j.unpredicted);
  if (j.hypers) text += fmt::format("hypers: {}\n", hypers_line(*j.hypers));
  if (j.fit) text += fmt::format("fit: {}\n", fit_line(*j.fit));
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
  if (!found.empty()) return found_line(*this);
  std::string text = fmt::format("{}{} {}, {}", reason(*this), stop == Stop::approximate ? ";" : ":",
                                 plural(messages, "message"), refused(*this));
  if (replaced > 0) text += fmt::format(", {} replaced", plural(replaced, "message"));
  if (change > 0) text += fmt::format(", last change {:.2g}", change);
  return text;
}

std::string Report::text() const {
  if (joint) return joint_text(*this);
  if (!found.empty()) return fmt::format("stop: {}\nmessages: {}\n", found_line(*this), messages);
  std::string text = fmt::format("stop: {}\nmessages: {}\nfaults: {}\n", reason(*this), messages, refused(*this));
  if (replaced > 0) text += fmt::format("replaced: {}\n", plural(replaced, "message"));
  if (change > 0) text += fmt::format("largest change in the last sweep: {:.3g}\n", change);
  if (signal_to_noise >= 0)
    text += fmt::format("smallest signal-to-noise ratio: {:.3g} at {}{}\n", signal_to_noise, signal_to_noise_at.text(),
                        signal_to_noise < 2 ? " (the concentrated-input theorem needs 2)" : "");
  return text;
}

}  // namespace dma
