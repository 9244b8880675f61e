// What is not discrete and unknown, where every loop is discrete: each connected part of it is a tree that hangs on one
// discrete element. Messages along such a tree tell the element all there is to know of it, and tell the tree what the
// cliques know of the element: two sweeps, before the cliques and after them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/compile/compile.h"
#include "engine/exact/propagation.h"

namespace dma::clique_tree {

class Hanging {
 public:
  // Null if all unknowns are discrete. A part that joins two of them, or has a loop, is an Error that names it.
  static std::shared_ptr<const Hanging> of(const Graph& graph, const PlanData& plan, const Network& network,
                                           const Registry& registry, const CompileOptions& options);

  // A graph of these parts alone, with the variables of the whole one; the discrete ones have cavities.
  const Plan& plan() const { return plan_; }
  bool has_exact_messages() const { return is_exact_; }

  struct Found {
    std::vector<Hint> hints;
    double log_scale = 0;              // the parts' own evidence, which the hints leave out
    std::string why_no_evidence = {};  // empty: there is one
  };
  // What the parts say, given what is observed in the state of the whole.
  Found collect(const State& whole, State& parts) const;
  // Tells the parts what all others know: the beliefs of the elements, as logs, without what they said themselves. A
  // Gaussian's belief is then the mixture of what it is given each value, by mean and variance: returned by element.
  std::vector<Natural> distribute(const Found& found, const std::vector<std::vector<double>>& log_beliefs,
                                  State& parts) const;

 private:
  struct Place {
    std::uint32_t node, variable, element;  // the element within its variable
  };
  void read(const State& whole, State& parts) const;
  void set_cavity(const Place& place, const std::vector<double>& logs, State& parts) const;

  Plan plan_;
  std::vector<Place> places_;            // of the discrete elements that parts hang on
  std::vector<std::uint32_t> place_at_;  // by element: the place its part hangs on; kNone if on none
  std::vector<std::uint32_t> factors_;   // of the whole graph, by those of the parts
  bool is_exact_ = true;
};

}  // namespace dma::clique_tree
