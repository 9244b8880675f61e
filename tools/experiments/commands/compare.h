// One message method measured on small graphs whose exact marginal is known, and its general habits measured on random
// messages.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/graph/graph.h"
#include "engine/kinds/registry.h"
#include "engine/messages/gaussian.h"

namespace dma::compare {

struct Case {
  std::string name, what;
  Graph graph = {};
  VariableId variable = {};  // the one whose marginal is compared
  Gaussian prior = {};       // its prior
  FactorId factor = {};      // the nonlinear factor, and its port towards the variable
  std::string port = {};
  std::vector<std::pair<VariableId, double>> observations = {};
  // Log density of the variable, up to a constant, everything else integrated out.
  std::function<double(double)> log_posterior = {};
  bool has_loop = false;  // messages go round: their beliefs are approximate even where all of them are exact
};

// product:  w x = z with uncertain w and x, z observed with noise
// collapse: w x = z with a known x: the exact posterior is Gaussian and anything but a point
// relu:     y = leaky_relu(x), y observed with noise near the kink
// spread:   the same where prior and y disagree about the side: the marginal is wider than the prior
// loop:     two weights on two rows of a regression: the smallest loop; sweeps get the variance wrong
std::vector<Case> cases();

// "adf" is a forward sweep alone: it absorbs marginals and sends nothing back.
std::vector<std::string> methods();

struct Measurement {
  Gaussian message, marginal;
  double kl = 0;                            // KL(exact marginal || marginal), by quadrature; +inf for a collapsed one
  std::uint64_t refused = 0, replaced = 0;  // messages of negative precision, left out or computed another way
  int sweeps = 0;                           // until nothing changes any more (1e-10); of joint: linear systems solved
  double microseconds = 0;                  // for one run
};
// `method`: one of these, or joint, which solves the whole graph at once.
Measurement measure(const Case& c, const std::string& method, const Registry& registry);

// Moments of the exact marginal.
Gaussian exact_marginal(const Case& c);

// The rows of the paper's Table 1 as measured facts, over the messages of product and leaky_relu towards their inputs.
struct Habits {
  bool sends_back = false;       // beliefs of inputs change at all
  bool divides = false;          // a message changes with what arrives on its own edge
  bool iterates = false;         // a second sweep changes the messages of a tree
  bool collapses = false;        // a proper prior and noisy data end in a point mass
  double improper_fraction = 0;  // fraction of random messages refused
};
Habits habits_of(const std::string& method, const Registry& registry);

}  // namespace dma::compare
