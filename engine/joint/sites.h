// Factors that are neither functions nor Gaussian are represented by EP sites: one message to each unknown they reach,
// refreshed against the joint marginal with the site divided out.
#pragma once

#include "engine/compile/plan_data.h"
#include "engine/joint/numbers.h"

namespace dma::joint_system {

class Sites {
 public:
  explicit Sites(const System& system);

  // Starts a run: clears the memory of kinds.
  void forget() { memory_.assign(memory_.size(), 0.0); }
  // Writes the sites as rows of `numbers`.
  void apply(Numbers& numbers) const;
  // Refreshes all sites at once, against the marginals of an inverted factor. `outcome.faults` counts refused messages.
  // The cavities are kept.
  void refresh(const State& state, Numbers& numbers, double damping, Outcome& outcome);
  // Change of the belief by the last refresh, with damping undone: the largest change of a mean in standard deviations,
  // or relative change of a standard deviation, over elements with a site. Called after solving for the new sites.
  // Beliefs are compared because a site itself may be negligible and pure rounding.
  double change(const State& state, const Numbers& numbers, double damping) const;
  // Elements whose site the last refresh left unchanged because no other factor informs them.
  std::vector<std::uint32_t> refused_elements() const;
  // The first kind without a density; null: all have one.
  const Kind* without_density(const PlanData& plan) const;
  // Sum over factors of their log density at the values of all elements.
  double log_density(const State& state, const Numbers& numbers);
  // Sum over factors of log (integral of cavity times factor / integral of cavity times site), with sites scaled to 1
  // at the values of their elements.
  double log_scales(const State& state, const Numbers& numbers) const;

 private:
  void find_cavities(Numbers& numbers);

  const System* system_;
  std::vector<double> tau_, rho_;  // by site message: the cavity, or the known value
  std::vector<double> kept_tau_, kept_rho_;
  std::vector<std::uint8_t> refused_;     // cavity is not proper: the site is unchanged
  std::vector<double> scratch_, memory_;  // memory_ belongs to kinds
  std::vector<PortView> reads_;
  std::vector<ParameterView> views_;
  std::vector<double> arguments_, parameters_;  // for one factor
};

}  // namespace dma::joint_system
