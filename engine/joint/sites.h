// Factors that are neither functions nor Gaussian are represented by EP sites: one message to each unknown they reach,
// refreshed against the joint marginal with the site divided out.
#pragma once

#include "engine/compile/plan_data.h"
#include "engine/joint/numbers.h"

namespace dma::joint_system {

// Reads plates of sites slot by slot: what the log density of their factor takes.
class SiteReader {
 public:
  // visit(slot, is_missing). Integrated over a missing argument, a likelihood is 1.
  template <class Visit>
  void for_each(const State& state, const Numbers& numbers, const SitePlate& plate, const Visit& visit) {
    views_.clear();
    append_views(state, plate.group, views_);
    for (std::uint32_t s = 0; s < plate.slots; ++s) {
      arguments.clear();
      parameters.clear();
      rows.clear();
      messages.clear();
      bool is_missing = false;
      for (const SitePlate::Port& port : plate.ports)
        for (std::size_t q = std::size_t{s} * port.terms; q < (s + std::size_t{1}) * port.terms; ++q) {
          arguments.push_back(numbers.values[port.elements[q]]);
          rows.push_back(port.rows[q]);
          messages.push_back(port.first + q);
          is_missing |= port.rows[q] == kNowhere && numbers.missing[port.elements[q]] != 0;
        }
      for (const ParameterView& view : views_)
        parameters.insert(parameters.end(), view.at(0, s), view.at(0, s) + view.terms);
      visit(s, is_missing);
    }
  }

  std::vector<double> arguments, parameters;
  std::vector<std::uint32_t> rows;      // by argument; kNowhere for a known element
  std::vector<std::uint64_t> messages;  // by argument: the index of its message among those of all sites

 private:
  std::vector<ParameterView> views_;
};

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
  // at the values of their elements; and over pairs of factors, how much both together differ from their sites.
  double log_scales(const State& state, const Numbers& numbers) const;

 private:
  // Third and fourth cumulant of a number, divided by powers of its standard deviation: 0 for a Gaussian.
  struct Lean {
    double third = 0, fourth = 0;
    bool is_small() const;
  };
  static Lean lean_of(const Kind& kind, std::vector<double> arguments, std::size_t unknown, const Gaussian& cavity,
                      const Gaussian& belief, std::span<const double> parameters);
  double log_pairs(const Numbers& numbers, std::span<const Lean> leans) const;
  void find_cavities(Numbers& numbers);

  const System* system_;
  std::vector<double> tau_, rho_;  // by site message: the cavity, or the known value
  std::vector<double> kept_tau_, kept_rho_;
  std::vector<std::uint8_t> refused_;     // cavity is not proper: the site is unchanged
  std::vector<double> scratch_, memory_;  // memory_ belongs to kinds
  std::vector<PortView> reads_;
  std::vector<ParameterView> views_;
  SiteReader reader_;
};

}  // namespace dma::joint_system
