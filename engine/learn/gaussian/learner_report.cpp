#include <fmt/format.h>

#include <algorithm>

#include "engine/learn/gaussian/learner_data.h"
#include "engine/support/text.h"

namespace dma {

GaussianLearnReport report_of(const GraphMixture& mixture, const GraphMixtureReport& fitted) {
  GaussianLearnReport report;
  report.interrupted = fitted.interrupted;
  const auto& members = mixture.memory().members;
  const GraphMixture::Member* best = &members.at(0);
  for (std::size_t k = 0; k < fitted.epochs.size(); ++k) {
    report.starts.push_back({fitted.epochs[k], fitted.settled[k], members[k].last().log_evidence, members[k].fraction});
    if (members[k].last().log_evidence > best->last().log_evidence) best = &members[k];
  }
  report.log_evidence = best->last().log_evidence;
  report.effective_scalars = best->effective_scalars;
  const SharedPrior& prior = mixture.model().prior;
  for (std::size_t g = 0; g < prior.groups.size(); ++g)
    if (!prior.groups[g].name.empty())
      report.precisions.push_back({prior.groups[g].name, best->last().state.scale(static_cast<Index>(g)),
                                   best->determined(static_cast<Index>(g)),
                                   static_cast<std::size_t>(std::ranges::count(prior.group, static_cast<Index>(g)))});
  return report;
}

std::string GaussianLearnReport::line() const {
  if (starts.empty()) return "nothing was learned";
  int epochs = 0, settled = 0;
  for (const Start& start : starts) {
    epochs += start.epochs;
    settled += start.settled ? 1 : 0;
  }
  std::string text = starts.size() == 1
                         ? fmt::format("{} epochs, {}", epochs, starts[0].settled ? "settled" : "at its limit")
                         : fmt::format("{} starts, {} settled, {} epochs", starts.size(), settled, epochs);
  if (interrupted) text += ", interrupted";
  text +=
      fmt::format("; log evidence {:.4g}; {:.1f} scalars determined by the examples", log_evidence, effective_scalars);
  std::vector<std::string> off;
  for (const Precision& own : precisions)
    if (own.is_off()) off.push_back(own.name);
  return off.empty() ? text : fmt::format("{}; the examples switched off {}", text, joined(off));
}

}  // namespace dma
