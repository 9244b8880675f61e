// A graph that grows step by step, solved by joint() over a window of its last steps: a fixed-lag smoother. Variables
// that leave the window are integrated out, which leaves a Gaussian over their neighbours. The cost of a step and the
// memory depend on the length of the window only. A window of the same shape as a recent one is not recompiled; its
// update allocates nothing, unless it has discrete variables.
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
// linearised permanently when they leave it. Their check by draws (JointOptions::check_draws) is spread: it is made
// whole for the first window of a shape, then each update renews a hundredth of it. It thus speaks of the last hundred
// windows of this shape.
//
// Discrete variables may choose factors (gates.h), as the regimes of a switching model do. The window is then solved in
// every case of its discrete variables, and beliefs are mixtures of the cases'. They are exact for linear Gaussian
// graphs until a discrete variable leaves. It is summed out: for each case of the others, its Gaussians are merged into
// one of their mean and covariance (generalised pseudo-Bayes), which the status then calls approximate. If the graph is
// linear, that Gaussian is of all that is known, and spans the window.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/joint/joint.h"
#include "engine/kinds/registry.h"

namespace dma {

// Code that only discrete variables need. A program that sets it to null is linked without it, and smaller.
struct GrowingCases;
extern const GrowingCases kGrowingCases;

struct GrowingOptions {
  // Number of updates after which a variable leaves.
  std::size_t lag = 10;
  // Number of updates after which a variable that no window had is forgotten, with its belief; none: as many as the
  // lag.
  std::optional<std::size_t> remember = {};
  // Number of updates after which a discrete variable leaves; none: as many as the lag. More of them cost more cases
  // (at most 1024) and merge later: with lag 1, n is GPB(n + 1).
  std::optional<std::size_t> discrete_lag = {};
  JointOptions joint = {};
  const GrowingCases* cases = &kGrowingCases;
};

class GrowingGraph {
 public:
  explicit GrowingGraph(Registry registry, GrowingOptions options = {});
  ~GrowingGraph();
  GrowingGraph(GrowingGraph&&) noexcept;
  GrowingGraph& operator=(GrowingGraph&&) noexcept;

  // The graph to add to. A factor may connect variables of the window and observed ones, and so may its gate; any other
  // factor is an Error of update(). After such an Error that factor is dropped; if the new part does not compile, or
  // has too many cases, all of it is dropped. Earlier parts are unchanged. The graph forgets its oldest nodes
  // (Graph::forget): an observed variable stays as long as factors of the window use it, and `remember` updates more.
  Graph& graph();
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
  // The belief given everything up to the last update, or up to the last one that had the variable in its window. That
  // of a forgotten variable is an Error.
  Belief belief(VariableId variable) const;
  std::size_t compiled() const;  // number of compilations of windows and departing parts

 private:
  friend struct GrowingCases;
  class Window;
  std::unique_ptr<Window> window_;
};

}  // namespace dma
