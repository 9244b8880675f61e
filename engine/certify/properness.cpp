#include "engine/certify/checks.h"

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

}  // namespace dma
