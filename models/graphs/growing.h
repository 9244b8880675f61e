// A graph that grows step by step and is solved by joint() over its last steps: a filter with a fixed lag. What leaves
// the window is integrated over, and stays as a Gaussian over what it was connected with. Appending a step costs as
// much as the window is long, however many there have been; a window of the same shape as the last is not compiled
// anew.
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
// Linear Gaussian graphs are exact: beliefs in the window are those given everything so far. Others are linearised for
// good where they leave it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/joint/joint.h"

namespace dma {

struct GrowingOptions {
  // A variable leaves so many updates after the one it came with.
  std::size_t lag = 10;
  JointOptions joint = {};
};

class GrowingGraph {
 public:
  explicit GrowingGraph(Registry registry, GrowingOptions options = {});

  // To be added to. A factor may connect variables of the window and observed ones; any other is an Error of update(),
  // and so is one that counts only in some cases (gates.h). After the Error that factor is left out, and where all that
  // is new does not compile, all of it; what was there is as before.
  Graph& graph() { return graph_; }
  // The value of an observed variable, before the update that it comes with; it keeps it.
  void observe(VariableId variable, std::span<const double> values);
  void observe(VariableId variable, std::initializer_list<double> values) {
    observe(variable, std::span(values.begin(), values.size()));
  }
  // Where the solver looks for a new variable first, as set_start of joint.h; 0 if nobody says.
  void start(VariableId variable, std::span<const double> values);
  // Solves the window with everything added since the last time, and lets go of what is older than the lag. What
  // nothing determines yet stays.
  Report update();
  // Given everything up to the last update, or to the one it left with.
  Belief belief(VariableId variable) const;
  std::size_t compiled() const { return compiled_; }  // how often a window, or what left one, was

 private:
  struct Known {
    std::size_t step = 0;
    bool has_left = false;
    std::vector<double> value = {};    // of an observed one
    std::vector<double> start = {};
    std::vector<Natural> belief = {};  // of all its components
  };
  // What is left of variables that are gone: a Gaussian over these, or over steps from where they were.
  struct Boundary {
    std::vector<std::uint32_t> variables;
    std::vector<double> means, covariance;
  };
  // Some factors of the graph and the boundary, by themselves, as they were compiled last.
  struct Part {
    std::string shape;
    Plan plan;
    std::vector<std::vector<double>> parameters;
  };
  struct Solved {
    State state;
    Report report;
    std::vector<std::uint32_t> variables;  // of the graph, by those of the part
  };

  Solved solve(Part& part, std::span<const std::uint32_t> factors);
  void add_boundary(Graph& to, std::span<const VariableId> local) const;
  std::vector<std::uint32_t> leaving() const;
  void let_go();

  Registry registry_;
  GrowingOptions options_;
  Graph graph_;
  std::vector<Known> known_;            // by variable
  std::vector<std::uint32_t> local_;    // by variable: its number in the part at hand; kNowhere between uses
  std::vector<std::uint32_t> factors_;  // of the window
  std::vector<std::size_t> came_;       // by factor: the update it came with, or kRefused
  std::size_t steps_ = 0, met_ = 0, compiled_ = 0;
  Boundary boundary_;
  Part window_, leaving_;
};

}  // namespace dma
