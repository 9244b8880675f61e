// Small graphs on which message methods can be compared with the exact marginal.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/graph/graph.h"
#include "engine/messages/gaussian.h"

namespace dma::compare {

struct Case {
  std::string name, what;
  Graph graph = {};
  VariableId variable = {};  // the one whose marginal is compared
  FactorId factor = {};      // the nonlinear factor
  std::string port = {};     // port of that factor, towards the variable
  Gaussian prior = {};       // prior of the variable
  std::vector<std::pair<VariableId, double>> observations = {};
  std::function<double(double)> log_posterior =
      {};                 // log density of the variable, up to a constant, everything else integrated out
  bool has_loop = false;  // messages go round: their beliefs are approximate even where all of them are exact
};

// product:  w x = z with uncertain w and x, z observed with noise
// collapse: w c = z with a known c: the exact posterior is Gaussian and anything but a point
// relu:     y = leaky_relu(x), y observed with noise near the kink
// spread:   the same where prior and y disagree about the side: the marginal is wider than the prior
// loop:     two weights on two rows of a regression: the smallest loop; sweeps get the variance wrong
std::vector<Case> cases();

}  // namespace dma::compare
