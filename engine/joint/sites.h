// Factors that are neither functions nor Gaussian take part as EP sites: a message to each unknown they reach,
// refreshed against the joint marginal with the site divided out.
#pragma once

#include "engine/joint/numbers.h"

namespace dma::joint_system {

class Sites {
 public:
  explicit Sites(const System& system);

  // A run begins: what kinds remember is of the one before.
  void forget() { memory_.assign(memory_.size(), 0.0); }
  // Sites as rows of `numbers`.
  void apply(Numbers& numbers) const;
  // One refresh of all sites at once, against the marginals of a factor that is inverted. `outcome.faults` counts those
  // that were refused. The cavities are kept.
  void refresh(const State& state, Numbers& numbers, double damping, Outcome& outcome);
  // By how much the last refresh, undamped, changes what is believed, now that it is solved for: the largest change of
  // a mean in standard deviations, or of a standard deviation in relation to itself, of what a site reaches. A site may
  // itself be next to nothing, and all of it rounding.
  double change(const State& state, const Numbers& numbers, double damping) const;
  // Elements whose site was left as it was by the last refresh, because nothing else is known of them.
  std::vector<std::uint32_t> refused_elements() const;
  // The first kind that has no density; null: all have one.
  const Kind* without_density(const PlanData& plan) const;
  // Sum over factors of their log density at the values of all elements.
  double log_density(const State& state, const Numbers& numbers);
  // Sum over factors of log (integral of cavity times factor / integral of cavity times site), sites counting as 1 at
  // the values of their elements.
  double log_scales(const State& state, const Numbers& numbers) const;

 private:
  void find_cavities(Numbers& numbers);

  const System* system_;
  std::vector<double> tau_, rho_;  // cavities, or what is known, by site message
  std::vector<double> kept_tau_, kept_rho_;
  std::vector<std::uint8_t> refused_;  // cavities that are not proper: the site stays
  std::vector<double> scratch_, memory_;  // the second of kinds
  std::vector<PortView> reads_;
  std::vector<ParameterView> views_;
  std::vector<double> arguments_, parameters_;  // of a factor
};

}  // namespace dma::joint_system
