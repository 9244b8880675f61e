// Unknowns that are not discrete, in graphs whose loops are all discrete: each connected part of them is a tree that
// hangs on one discrete element. Messages up such a tree give the element all information from it; messages down give
// the tree the element's belief. There is one sweep before the cliques and one after them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/compile/compile.h"
#include "engine/compile/plan_data.h"
#include "engine/exact/propagation.h"

namespace dma::clique_tree {

class Hanging {
 public:
  // Null if all unknowns are discrete. A part that joins two discrete elements, or has a loop, is an Error that names
  // it.
  static std::shared_ptr<const Hanging> of(const Graph& graph, const PlanData& plan, const DiscreteGraph& discrete,
                                           const Registry& registry, const CompileOptions& options);

  // A graph of these parts only, with the variables of the whole graph; the discrete ones have cavities.
  const Plan& plan() const { return plan_; }
  bool has_exact_messages() const { return is_exact_; }

  struct Found {
    std::vector<Hint> hints;
    double log_scale = 0;              // the parts' own evidence, which the hints do not contain
    std::string why_no_evidence = {};  // empty: evidence exists
  };
  // Sends messages up the parts, given the observations in the state of the whole.
  Found collect(const State& whole, State& parts) const;
  // Sends messages down the parts: the elements' beliefs, as logs, with the parts' own messages removed. A Gaussian
  // belief is then the mixture over the element's values, by mean and variance; returned by element.
  std::vector<Natural> distribute(const Found& found, const std::vector<std::vector<double>>& log_beliefs,
                                  State& parts) const;

 private:
  struct Place {
    std::uint32_t node, variable, element;  // the element's index within its variable
  };
  void read(const State& whole, State& parts) const;
  void set_cavity(const Place& place, const std::vector<double>& logs, State& parts) const;

  Plan plan_;
  std::vector<Place> places_;            // discrete elements that parts hang on
  std::vector<std::uint32_t> place_at_;  // by element: the place that its part hangs on; kNowhere if none
  std::vector<std::uint32_t> factors_;   // factor of the whole graph, by factor of the parts
  bool is_exact_ = true;
};

}  // namespace dma::clique_tree
