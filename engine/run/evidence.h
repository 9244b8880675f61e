// The log of a model's normaliser, log p(observed), from the messages of a run: the Bethe energy. With the arriving
// messages m taken as normalised densities, A the log-normaliser of a family and d_v the messages at an element,
//
//   log Z = sum over factors  log of the integral of f prod m
//         + sum over elements (sum of A(arrivals from it) + (1 - d_v) A(belief))
//
// A factor with variational messages has its part of the variational bound instead (factor_mass.h). It is exact on a
// tree of exact factors, EP's estimate where messages are projections, and an approximation without a bound on a graph
// with loops.
#pragma once

#include <string>
#include <vector>

#include "engine/support/text.h"

namespace dma {

class Plan;
class State;

struct Evidence {
  struct Part {
    std::string name;
    double value = 0;
  };
  double log_value = 0;
  bool is_exact = false;
  std::string why;  // why it is an estimate
  std::vector<Part> factors, variables;

  std::string line() const;  // "log evidence -3.21, exact"
  std::string text() const;  // ... and its parts, one per line
};

// The state must have been run; the result says if that run did not settle. A factor that cannot give its part is an
// Error that says why.
Evidence evidence(const Plan& plan, const State& state);
// Only the value; also works for plans with another solver.
double log_evidence(const Plan& plan, const State& state);

}  // namespace dma

template <>
struct fmt::formatter<dma::Evidence> : dma::TextFormatter {
  auto format(const dma::Evidence& evidence, format_context& context) const { return write(evidence.line(), context); }
};
