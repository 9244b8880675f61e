// Decisions under uncertainty, after a run by exact(): the action of highest expected utility, and the value of
// observing a variable first.
//
//   const Decision best = decide(posterior, {oil}, {0, 0, 0, -70, 50, 200});   two actions, three values of oil
//   value_of_information(posterior, {oil}, {0, 0, 0, -70, 50, 200}, test);
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "engine/exact/exact.h"

namespace dma {

struct Decision {
  std::size_t action = 0;         // the first of the best
  double utility = 0;             // its expected utility
  std::vector<double> utilities;  // expected utility of every action
};

// `utility` has one number per action and combination of the causes, the last cause innermost.
Decision decide(const ExactPosterior& posterior, const std::vector<ElementOf>& causes,
                const std::vector<double>& utility);

// Rise of the best action's expected utility if `seen` is observed before choosing; never negative:
//
//   sum over v of P(v) max over a of E[utility(a) | v]  -  max over a of E[utility(a)]
double value_of_information(const ExactPosterior& posterior, const std::vector<ElementOf>& causes,
                            const std::vector<double>& utility, ElementOf seen);

}  // namespace dma
