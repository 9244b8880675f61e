// A graph that grows step by step, solved by joint() over a window of its last steps: a fixed-lag smoother. Variables
// that leave the window are integrated out, which leaves a Gaussian over their neighbours. The cost of a step depends
// on the length of the window only; a window of the same shape as the last is not recompiled.
//
//   GrowingGraph walk(standard_registry(), {.lag = 10});
//   for (...) {
//     const VariableId x = walk.graph().variable(""), y = walk.graph().observed("");
//     walk.graph().factor("gaussian_noise", {before, x}, {{"variance", 0.1}});
//     walk.graph().factor("gaussian_noise", {x, y}, {{"variance", 1.0}});
//     walk.observe(y, {...});
//     walk.update();
//     walk.belief(x);
//   }
//
// For linear Gaussian graphs, beliefs in the window are the exact posterior given everything so far. Other graphs are
// linearised permanently when they leave it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/joint/joint.h"
#include "engine/kinds/registry.h"

namespace dma {

struct GrowingOptions {
  // Number of updates after which a variable leaves.
  std::size_t lag = 10;
  JointOptions joint = {};
};

class GrowingGraph {
 public:
  explicit GrowingGraph(Registry registry, GrowingOptions options = {});

  // The graph to add to. A factor may connect variables of the window and observed ones; any other factor, or one with
  // a gate (gates.h), is an Error of update(). After such an Error that factor is dropped; if the new part does not
  // compile, all of it is dropped. Earlier parts are unchanged.
  Graph& graph() { return graph_; }
  // Sets the value of an observed variable, before the update that adds it; the value is permanent.
  void observe(VariableId variable, std::span<const double> values);
  void observe(VariableId variable, std::initializer_list<double> values) {
    observe(variable, std::span(values.begin(), values.size()));
  }
  // Starting value of the solver for a new variable, as set_start of joint.h; default 0.
  void start(VariableId variable, std::span<const double> values);
  // Solves the window with everything added since the last update, and removes variables older than the lag.
  // Undetermined variables stay.
  Report update();
  // The belief given everything up to the last update, or up to the one at which the variable left.
  Belief belief(VariableId variable) const;
  std::size_t compiled() const { return compiled_; }  // number of compilations of windows and departing parts

 private:
  struct Known {
    std::size_t step = 0;
    bool has_left = false;
    std::vector<double> value = {};  // if the variable is observed
    std::vector<double> start = {};
    std::vector<Natural> belief = {};  // all its components
  };
  // A Gaussian over the neighbours of removed variables, or over steps from their last values.
  struct Boundary {
    std::vector<std::uint32_t> variables;
    std::vector<double> means, covariance;
  };
  // Some factors of the graph and the boundary, as compiled last.
  struct Part {
    std::string shape;
    Plan plan;
    std::vector<std::vector<double>> parameters;
  };
  struct Solved {
    State state;
    Report report;
    std::vector<std::uint32_t> variables;  // variable of the graph, by index in the part
  };

  Solved solve(Part& part, std::span<const std::uint32_t> factors);
  void add_boundary(Graph& to, std::span<const VariableId> local) const;
  std::vector<std::uint32_t> leaving() const;
  void let_go();

  Registry registry_;
  GrowingOptions options_;
  Graph graph_;
  std::vector<Known> known_;            // by variable
  std::vector<std::uint32_t> local_;    // by variable: its index in the current part; kNowhere between uses
  std::vector<std::uint32_t> factors_;  // factors of the window
  std::vector<std::size_t> came_;       // by factor: the update that added it, or kRefused
  std::size_t steps_ = 0, met_ = 0, compiled_ = 0;
  Boundary boundary_;
  Part window_, leaving_;
};

}  // namespace dma
