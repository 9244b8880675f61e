// Tempering and learned priors chosen for a table by its own rows: every candidate learns nine rows of ten and predicts the
// tenth.
#pragma once

#include <Eigen/Dense>
#include <functional>
#include <vector>

#include "models/network/bnn.h"

namespace dma {

struct Candidate {
  double tempering = 1;
  bool learn_prior = false;
  double log_likelihood = 0;  // mean log density of the held-back rows and outputs, in the units of the data
};

struct Freedom {
  bool tempering = true, learn_prior = true;  // what is not free stays as the options have it
};

// Every candidate with its score, in the order of trial; the best one's settings are put into the options.
// tried(how many, of how many) is called after each.
std::vector<Candidate> choose_settings(const Eigen::MatrixXd& inputs, const Eigen::MatrixXd& targets, const Freedom& freedom,
                                       BnnOptions& network, LearnOptions& fit,
                                       const std::function<void(std::size_t, std::size_t)>& tried = {});

}  // namespace dma
