// Choices under uncertainty, after a run by exact(): which action has the highest expected utility, and what it is
// worth to learn a value before choosing.
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
  double utility = 0;             // expected of it
  std::vector<double> utilities;  // expected of every action
};

// `utility` has a number for each action and, within it, each combination of the causes, the last innermost.
Decision decide(const ExactPosterior& posterior, const std::vector<ElementOf>& causes,
                const std::vector<double>& utility);

// By how much the expected utility of the best action rises if `seen` is observed before choosing; never below 0:
//
//   sum over v of P(v) max over a of E[utility(a) | v]  -  max over a of E[utility(a)]
double value_of_information(const ExactPosterior& posterior, const std::vector<ElementOf>& causes,
                            const std::vector<double>& utility, ElementOf seen);

}  // namespace dma
