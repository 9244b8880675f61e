// The two checks that need no exact message.
#include "engine/certify/checks.h"

#include <algorithm>

namespace dma {

Properness check_properness(const Edge& edge, Scenarios scenarios, const CertifyOptions& options) {
  Properness result;
  constexpr int kTold = 1000;
  for (int i = 0; i < options.sweep; ++i) {
    if (i % kTold == 0) edge.tell(options, "properness", i, options.sweep);
    // Ordinary arrivals too: a method may fail where nothing is extreme.
    const bool ordinary = i % 4 == 0;
    const Scenario scenario = ordinary ? scenarios.ordinary() : scenarios.extreme();
    const auto messages = evaluate(*edge.kind, edge.method, edge.port, scenario.arrivals, scenario.parameters);
    result.count += scenario.arrivals[edge.port].size();
    if (messages) continue;
    if (ordinary) ++result.ordinary_faults;
    if (result.faults++ == 0) result.first_fault = describe(scenario, *edge.kind);
  }
  return result;
}

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
