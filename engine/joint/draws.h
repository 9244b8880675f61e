// Draws from the graph's own density, for posteriors that the Gaussian of a joint run does not fit: Hamiltonian Monte
// Carlo in the metric of that Gaussian, with several Markov chains. The first starts at a draw of it, the others at
// draws of Gaussians solved from other starts, in their metrics. R-hat and effective sizes are measured.
//
//  if (report.joint->fit && !report.joint->fit->is_good()) {
//    const JointDraws draws = draw_posterior(state);
//    draws.line();         // "2000 draws of 4 chains: R-hat 1.003, 812 effective, 84 % accepted"
//    draws.mean(x);
//  }
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/joint/joint.h"

namespace dma {

struct DrawOptions {
  int chains = 4;
  int warm_up = 500;  // draws per chain that tune the step and are discarded
  int draws = 500;    // per chain
  int leaps = 12;     // largest number of leapfrog steps between two draws
  std::uint64_t seed = 1;
};

class JointDraws {
 public:
  double operator()(std::size_t draw, VariableId variable, std::size_t element = 0) const {
    return draws_(draw, variable, element);
  }
  std::size_t size() const { return draws_.size(); }                // all draws of the first chain, then of the next
  double mean(VariableId variable, std::size_t element = 0) const;  // mean of all draws
  double sd(VariableId variable, std::size_t element = 0) const;    // their standard deviation

  // Worst values over all unknowns: R-hat (spread of all draws relative to that within half chains) and effective
  // sample size.
  double r_hat = 1, effective = 0;
  double accepted = 0;  // fraction of proposals
  int chains = 0;
  bool have_settled() const;  // R-hat below 1.05, and at least 100 effective draws
  std::string line() const;

 private:
  friend JointDraws draw_posterior(const State& state, const DrawOptions& options);
  JointSamples draws_;
};

// R-hat and effective size of the draws of one number: chain by chain in one vector, cut into parts of equal length,
// two per chain (Vehtari, Gelman, Simpson, Carpenter, Buerkner 2021).
struct ChainWorth {
  double r_hat = 1, effective = 0;  // infinite and 0 if the number never moves
};
ChainWorth worth_of(const std::vector<double>& draws, std::size_t parts);  // cuts into so many parts

// The state must have been run by joint without hypers. Every kind must have a function, a row or a log density.
JointDraws draw_posterior(const State& state, const DrawOptions& options = {});

}  // namespace dma
