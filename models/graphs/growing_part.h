// A part of a growing graph as joint() solves it: some factors, and a Gaussian that stands for removed ones. Once
// compiled, a part serves all selections of the same shape; solving it again allocates nothing.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/joint/solver.h"

namespace dma::growing_graph {

// A Gaussian over the neighbours of removed variables, or over steps from their last values; in one case of the
// discrete ones.
struct Boundary {
  std::vector<std::uint32_t> variables;  // ascending
  std::vector<double> means, covariance;
  double log_weight = 0;
};

// A variable of the graph.
struct Known {
  std::size_t step = 0;  // number of updates before it was added
  std::size_t last = 0;  // number of updates up to the last one that solved it
  bool has_left = false;
  std::uint32_t outcomes = 0;  // number of values if it is unknown and discrete; 0: it is not
  std::vector<double> value;   // if the variable is observed, or discrete and in a case
  std::vector<double> start;
  std::vector<Natural> belief;  // all its components

  void begin(std::size_t at) {
    step = last = at;
    has_left = false, outcomes = 0;
    value.clear(), start.clear(), belief.clear();
  }
};

// Some factors of a graph and all variables of these, of the boundary, and those that it is `linked` to.
class Selection {
 public:
  // In a case, whose discrete variables are `given`, gates do not matter; otherwise they are ends of their factors.
  void read(const Graph& graph, std::span<const std::uint32_t> factors, const Boundary& boundary,
            const JointOptions& how, std::span<const std::uint32_t> linked,
            const std::vector<std::uint32_t>* given = nullptr);

  std::uint32_t place_of(std::uint32_t variable) const;  // in `variables`
  std::span<const std::uint32_t> ends_of(std::size_t factor) const {
    return {ends_.data() + first_end_[factor], ends_.data() + first_end_[factor + 1]};
  }

  const JointOptions* options = nullptr;
  bool has_gates = false;                         // a factor has one, and this is no case
  std::vector<std::uint32_t> factors, variables;  // ids in the graph, ascending
  std::vector<std::uint8_t> is_observed;          // by variable: or given
  std::string shape;                              // all that a plan depends on, except names and values of parameters
  std::vector<double> parameters;                 // the numbers of all factors

 private:
  Graph::Factor factor_;
  std::vector<std::uint32_t> ends_, first_end_;  // places of the variables of each factor
};

class Part {
 public:
  Part(const Graph& graph, const Selection& selection, const Boundary& boundary, const Registry& registry);

  bool fits(const Selection& selection) const;
  // Takes the parameters of a selection that fits.
  void set(const Graph& graph, const Selection& selection, const Boundary& boundary);
  // `known`, by variable of the selection, has the values of observed variables and starts of others.
  Report run(std::span<Known* const> known);
  // After a run: the belief of a variable, or means of some variables and their covariance; false if it is singular.
  void read(std::uint32_t variable, std::vector<Natural>& belief) { moments_.read(state_, {variable}, belief); }
  bool read(std::span<const VariableId> variables, Boundary& boundary);
  double log_evidence() const;
  // Places of the variables that a factor computes; empty unless it is a function.
  std::span<const std::uint32_t> outputs_of(std::size_t factor) const {
    return {outputs_.data() + first_output_[factor], outputs_.data() + first_output_[factor + 1]};
  }

 private:
  Plan compile_part(const Graph& graph, const Selection& selection, const Boundary& boundary, const Registry& registry);
  void add_boundary(Graph& to, const Selection& selection, const Boundary& boundary, const Registry& registry);
  void set_boundary(const Boundary& boundary);

  std::string shape_;
  std::vector<double> parameters_;
  std::vector<std::uint8_t> is_fixed_;  // by parameter: a table that only compile() can set; empty: none is
  std::vector<std::uint32_t> outputs_, first_output_ = {0};
  // The factors of the boundary: a prior of each number given those before it, and steps of points on manifolds.
  struct Offset {
    FactorId factor;
    std::uint32_t first, size;  // numbers of the boundary
  };
  std::vector<FactorId> rows_;
  std::vector<Offset> offsets_;
  std::vector<double> weights_, means_, start_;  // buffers
  State state_;
  joint_system::MomentReader moments_;
};

}  // namespace dma::growing_graph
