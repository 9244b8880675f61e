#include "engine/run/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/compile/compile.h"
#include "engine/compile/plan_data.h"
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

// A line of limited width. Parts that do not fit are left to text(), or cut off if nothing else says it.
class ReportLine {
 public:
  explicit ReportLine(std::string text) : text_(std::move(text)) {}
  void add_if_it_fits(const std::string& more) {
    if (columns(text_) + columns(more) <= Report::kColumns) text_ += more;
  }
  void add(const std::string& more) { text_ += more; }
  std::string cut() && {
    if (columns(text_) <= Report::kColumns) return std::move(text_);
    std::size_t end = 0;
    for (std::size_t left = Report::kColumns - 3; end < text_.size() && (left > 0 || is_within(text_[end])); ++end)
      left -= is_within(text_[end]) ? 0 : 1;
    return text_.substr(0, end) + "...";
  }

 private:
  static bool is_within(char c) { return (static_cast<unsigned char>(c) & 0xc0u) == 0x80; }  // a character of UTF-8
  static std::size_t columns(const std::string& text) {
    return text.size() - static_cast<std::size_t>(std::ranges::count_if(text, is_within));
  }
  std::string text_;
};

std::string status(const Report& report, std::string_view noun, int rounds) {
  const std::string count = plural(static_cast<std::uint64_t>(rounds), noun);
  switch (report.stop) {
    case Report::Stop::exact:
      return fmt::format("exact after {}", count);
    case Report::Stop::approximate:
      return std::string(report.why);
    case Report::Stop::converged:
      return fmt::format("converged after {}", count);
    case Report::Stop::limit:
      return fmt::format("stopped at the limit of {}, not converged", count);
    case Report::Stop::interrupted:
      return fmt::format("interrupted after {}, not converged", count);
    case Report::Stop::diverged:
      return fmt::format("diverged, stopped after {}", count);
    case Report::Stop::singular:
      return fmt::format("singular after {}", count);
  }
  return {};
}

std::string sweeps_status(const Report& report) { return status(report, "sweep", report.sweeps); }

bool is_caveated(const Report& report) { return report.looped != nullptr || report.approximated != nullptr; }

// Beside the status of a fixed point that need not be the posterior.
std::string worth(const Report& report) {
  return report.has_exact_means ? "means exact, variances approximate" : "approximate";
}

std::string short_caveat(const Report& report) {
  const std::string kind = report.approximated ? report.approximated->approximating->name() : "";
  if (report.looped == nullptr) return fmt::format("by messages of {}", kind);
  if (report.approximated != nullptr) return fmt::format("loops, and messages of {}", kind);
  return report.correlation != 0 ? "correlated loops" : "the graph has loops";
}

bool is_discrete(const PlanData& plan) {
  for (const PlanData::Variable& v : plan.variables)
    if (v.family.outcomes() == 0) return false;
  return true;
}

std::string remedy(const Report& report) {
  switch (report.stop) {
    case Report::Stop::converged: {
      const PlanData& plan = report.looped != nullptr ? *report.looped : *report.approximated;
      if (plan.is_gaussian) return report.has_exact_means ? "; take joint()" : "; compare with joint()";
      return is_discrete(plan) ? "; compare with exact()" : "";
    }
    case Report::Stop::limit:
      return "; raise it, add damping, or take joint()";
    case Report::Stop::diverged:
      return "; add damping, or take joint()";
    default:
      return "";
  }
}

std::string refused(const Report& report) {
  if (report.faults == 0) return "no faults";
  return fmt::format("{} refused, the first to {} in sweep {}", plural(report.faults, "message"),
                     report.first_fault.text(), report.first_fault_sweep);
}

std::string found_text(const Report& report) {
  return report.stop == Report::Stop::exact ? fmt::format("exact: {}", report.found)
                                            : fmt::format("{}; {}", sweeps_status(report), report.found);
}

std::string joint_status(const Report& report) {
  const JointReport& j = *report.joint;
  if (report.stop == Report::Stop::approximate || report.stop == Report::Stop::limit)
    return fmt::format("stopped after {}, not converged", plural(static_cast<std::uint64_t>(j.iterations), "solve"));
  return status(report, "solve", j.iterations) +
         (report.stop == Report::Stop::singular ? fmt::format(": nothing determines {}", j.undetermined) : "");
}

std::string fit_text(const JointReport::Fit& fit) {
  if (fit.draws == 0) return fmt::format("not checked whether the Gaussian fits the posterior: {}", fit.why_not);
  std::string numbers = fmt::format("k {:.2g}, {:.0f} of {} draws effective", fit.k, fit.effective, fit.draws);
  if (!fit.are_steps_good())
    numbers += fmt::format(", {} is off most: means by up to {:.2g} sd, a deviation {:.2g} times as wide", fit.farthest,
                           fit.moved, fit.wider);
  if (fit.elsewhere > 0) numbers += fmt::format(", another mode has {:.2g} of the mass", fit.elsewhere);
  if (fit.is_good()) return fmt::format("the Gaussian fits the posterior: {}", numbers);
  return fmt::format(
      "the Gaussian does not fit the posterior: {}, see \"Does the Gaussian fit?\" in tools/docs/methods.md", numbers);
}

std::string short_fit(const JointReport::Fit& fit) {
  if (fit.draws == 0 || fit.is_good()) return fit_text(fit);
  const std::string why = !fit.are_weights_good() ? fmt::format("k {:.2g}", fit.k)
                          : !fit.are_steps_good() ? "moments"
                                                  : "modes";
  return fmt::format("the Gaussian does not fit the posterior ({}); try draw_posterior()", why);
}

std::string hypers_line(const JointReport::Hypers& hypers) {
  return fmt::format("hypers integrated over {} points, {:.1f} effective, largest weight {:.2g}", hypers.points,
                     hypers.effective, hypers.largest);
}

bool overflows(const JointReport& j) { return !std::isfinite(j.objective) || !std::isfinite(j.gradient); }

std::string joint_line(const Report& report) {
  const JointReport& j = *report.joint;
  ReportLine line(joint_status(report));
  const bool fits = j.fit && j.fit->is_good();
  if (j.fit && !fits) line.add("; " + short_fit(*j.fit));
  if (overflows(j)) line.add(": the objective or its gradient overflows");
  if (!j.unpredicted.empty()) line.add("; no Gaussian predicts " + j.unpredicted);
  if (report.faults > 0) line.add_if_it_fits(fmt::format("; {} refused", plural(report.faults, "message")));
  if (j.hypers) line.add_if_it_fits("; " + hypers_line(*j.hypers));
  if (fits) line.add_if_it_fits("; " + short_fit(*j.fit));
  if (!overflows(j)) line.add_if_it_fits(fmt::format("; objective {:.6g}, gradient {:.2g}", j.objective, j.gradient));
  return std::move(line).cut();
}

std::string joint_text(const Report& report) {
  const JointReport& j = *report.joint;
  const std::string found = overflows(j) ? "objective: it or its gradient overflows"
                                         : fmt::format("objective: {:.10g}\ngradient: {:.3g}", j.objective, j.gradient);
  std::string text = fmt::format("stop: {}\n{}\nrejected: {}\n", joint_status(report), found,
                                 plural(static_cast<std::uint64_t>(j.rejected), "step"));
  if (j.refreshes > 0)
    text += fmt::format("sites: refreshed {} times, last change {:.3g}, {} refused, {} replaced\n", j.refreshes,
                        j.site_change, plural(report.faults, "message"), report.replaced);
  if (!j.unpredicted.empty()) text += fmt::format("missing: no Gaussian predicts {}\n", j.unpredicted);
  if (j.hypers) text += fmt::format("hypers: {}\n", hypers_line(*j.hypers));
  if (j.fit) text += fmt::format("fit: {}\n", fit_text(*j.fit));
  return text;
}

}  // namespace

std::string Report::caveat() const {
  if (!is_caveated(*this)) return std::string(why);
  std::string text;
  if (looped != nullptr) {
    text = fmt::format("the graph has loops ({})", looped->loop);
    if (correlation != 0)
      text += fmt::format(", and {} and {} are correlated by {:.3f}, which sweeps leave out; solve it by joint()",
                          looped->element_name(correlated[0]), looped->element_name(correlated[1]), correlation);
  }
  if (approximated != nullptr)
    text += fmt::format("{}messages of kind '{}' are approximations", text.empty() ? "" : "; ",
                        approximated->approximating->name());
  return text;
}

std::string Report::line() const {
  if (joint) return joint_line(*this);
  if (!found.empty()) {
    ReportLine line(found_text(*this));
    return std::move(line).cut();
  }
  ReportLine line(sweeps_status(*this));
  const bool is_short = stop == Stop::exact || (stop == Stop::converged && !is_caveated(*this));
  if (is_short)
    line.add(fmt::format(": {}, {}", plural(messages, "message"), refused(*this)));
  else if (stop == Stop::converged)
    line.add(fmt::format(", {}: {}", worth(*this), short_caveat(*this)));
  if (!is_short) line.add(faults > 0 ? "; " + refused(*this) : remedy(*this));
  return std::move(line).cut();
}

std::string Report::text() const {
  if (joint) return joint_text(*this);
  if (!found.empty()) return fmt::format("stop: {}\nmessages: {}\n", found_text(*this), messages);
  std::string text = fmt::format("stop: {}\n", sweeps_status(*this));
  if (stop == Stop::converged && is_caveated(*this)) text += fmt::format("worth: {}: {}\n", worth(*this), caveat());
  text += fmt::format("messages: {}\nfaults: {}\n", messages, refused(*this));
  if (replaced > 0) text += fmt::format("replaced: {}\n", plural(replaced, "message"));
  if (change > 0) text += fmt::format("largest change in the last sweep: {:.3g}\n", change);
  if (signal_to_noise >= 0)
    text += fmt::format("smallest signal-to-noise ratio: {:.3g} at {}{}\n", signal_to_noise, signal_to_noise_at.text(),
                        signal_to_noise < 2 ? " (the concentrated-input theorem needs 2)" : "");
  return text;
}

}  // namespace dma
