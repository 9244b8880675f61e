// Draws from the graph's own density, where the Gaussian of a joint run does not fit it: Hamiltonian Monte Carlo in the
// metric of that Gaussian, several chains from draws of it. What they are worth is measured, not assumed.
//
//   if (report.joint->fit && !report.joint->fit->is_good()) {
//     const JointChains chains = draw_chains(state);
//     chains.line();         // "2000 draws of 4 chains: R-hat 1.003, 812 effective, 84 % accepted"
//     chains.mean(x);
//   }
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/joint/joint.h"

namespace dma {

struct ChainOptions {
  int chains = 4;
  int warm_up = 500;  // draws of each chain that set the step, and are dropped
  int draws = 500;    // of each chain
  int leaps = 12;     // most steps between two draws
  std::uint64_t seed = 1;
};

class JointChains {
 public:
  double operator()(std::size_t draw, VariableId variable, std::size_t element = 0) const {
    return draws_(draw, variable, element);
  }
  std::size_t size() const { return draws_.size(); }  // chain after chain
  double mean(VariableId variable, std::size_t element = 0) const;
  double sd(VariableId variable, std::size_t element = 0) const;

  // Over all unknowns, the worst: spread of all draws against that within halves of chains, and how many independent
  // draws they are worth.
  double r_hat = 1, effective = 0;
  double accepted = 0;  // fraction
  int chains = 0;
  bool have_settled() const;  // R-hat below 1.05, and at least 100 effective draws
  std::string line() const;

 private:
  friend JointChains draw_chains(const State& state, const ChainOptions& options);
  JointSamples draws_;
};

// What draws of one number are worth: chain after chain in one vector, which is cut into so many parts of one length,
// two per chain (Vehtari, Gelman, Simpson, Carpenter, Buerkner 2021).
struct ChainWorth {
  double r_hat = 1, effective = 0;  // infinite and 0 of a number that never moves
};
ChainWorth worth_of(const std::vector<double>& draws, std::size_t parts);

// Of a state that joint has run, without hypers. All its kinds must have a function, a row or a log density.
JointChains draw_chains(const State& state, const ChainOptions& options = {});

}  // namespace dma
