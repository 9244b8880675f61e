// One message method measured on one case, and its general habits measured on random messages.
#pragma once

#include <string>
#include <vector>

#include "engine/kinds/registry.h"
#include "engine/messages/gaussian.h"
#include "tools/experiments/compare/cases.h"

namespace dma::compare {

// "adf" is a forward sweep alone: it absorbs marginals and sends nothing back.
std::vector<std::string> methods();
// The same, and "joint": no message method but the whole graph at once. Its sweeps are linear systems solved.
std::vector<std::string> solvers();

struct Measurement {
  Gaussian message, marginal;
  double kl = 0;                            // KL(exact marginal || marginal), by quadrature; +inf for a collapsed one
  std::uint64_t refused = 0, replaced = 0;  // messages of negative precision, left out or computed another way
  int sweeps = 0;                           // until nothing changes any more (1e-10)
  double microseconds = 0;                  // for one run
};
Measurement measure(const Case& c, const std::string& method, const Registry& registry);

// Moments of the exact marginal.
Gaussian exact_marginal(const Case& c);

// The rows of the paper's Table 1 as measured facts, over the messages of product and leaky_relu towards their inputs.
struct Habits {
  std::string method;
  bool sends_back = false;       // beliefs of inputs change at all
  bool divides = false;          // a message changes with what arrives on its own edge
  bool iterates = false;         // a second sweep changes the messages of a tree
  bool collapses = false;        // a proper prior and noisy data end in a point mass
  double improper_fraction = 0;  // fraction of random messages refused
};
Habits habits_of(const std::string& method, const Registry& registry);

}  // namespace dma::compare
