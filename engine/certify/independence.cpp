#include <algorithm>

#include "engine/certify/checks.h"

namespace dma {

Independence check_independence(const Edge& edge, Scenarios scenarios, const CertifyOptions& options) {
  constexpr double kRounding = 1e-12;
  constexpr int kVariations = 8;
  Independence result;
  edge.tell(options, "independence");
  for (int i = 0; i < options.scenarios; ++i) {
    Scenario scenario = scenarios.ordinary();
    const auto reference = edge.message(scenario);
    for (int k = 0; k < kVariations; ++k) {
      edge.own(scenario) = k == 0 ? Natural{} : scenarios.ordinary_message(edge.kind->ports()[edge.port]);
      const auto varied = edge.message(scenario);
      if (varied.has_value() != reference.has_value()) result.change = kInfinity;
      if (varied && reference) result.change = std::max(result.change, change_between(*reference, *varied));
    }
  }
  result.holds = result.change <= kRounding;
  return result;
}

}  // namespace dma
