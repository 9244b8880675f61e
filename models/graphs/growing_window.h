// The working parts of a GrowingGraph.
#pragma once

#include <functional>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "models/graphs/growing.h"
#include "models/graphs/growing_part.h"

namespace dma::growing_graph {

using Lookup = std::function<const Known&(std::uint32_t variable)>;

// A factor whose unknown variables are all discrete: log f for all their values.
class Table {
 public:
  Table(const Graph& graph, std::uint32_t factor, const Registry& registry, const Lookup& known);
  double log_value(const Lookup& known) const;  // Known::value holds the value of every discrete variable

 private:
  struct End {
    std::uint32_t variable, element, outcomes;
  };
  struct Slot {
    std::vector<End> ends;
    std::vector<double> logs;  // the last end innermost
  };
  std::vector<Slot> slots_;
};

}  // namespace dma::growing_graph

namespace dma {

class GrowingGraph::Window {
 public:
  Window(Registry registry, GrowingOptions options);

  void observe(VariableId variable, std::span<const double> values);
  void start(VariableId variable, std::span<const double> values);
  Report update();
  Belief belief(VariableId variable) const;

  Graph graph;
  std::size_t compiled = 0;

  // For windows with discrete variables (growing_cases.cpp).
  void check_gates(const Graph::Factor& factor) const;
  void begin_cases();
  Report solve_window_cases();
  bool merge_cases();
  void qualify(Report& report) const;

 private:
  using Boundary = growing_graph::Boundary;
  using Known = growing_graph::Known;
  using Part = growing_graph::Part;
  using Selection = growing_graph::Selection;
  using Ids = std::vector<std::uint32_t>;

  void meet();
  void check_new();
  void drop_new();
  void begin_window();
  Report solve(Selection& selection, const Boundary& boundary);
  Report solve_window();
  bool mark_leaving();
  bool integrate_out(bool is_linear);
  void let_go(bool is_linear);
  void forget();
  Known& known(std::uint32_t variable) { return known_.find(variable)->second; }
  std::size_t cases_of(const Ids& choosers) const {
    std::size_t cases = 1;
    for (const std::uint32_t v : choosers) cases *= lookup_(v).outcomes;
    return cases;
  }
  bool has_cases(const Ids& choosers) const { return !choosers.empty() || window_.has_gates; }

  template <class Read>
  Report solve_cases(const Ids& choosers, const Read& read);
  void mix_beliefs();

  Registry registry_;
  GrowingOptions options_;
  JointOptions quiet_options_;  // nobody reads the check of what leaves, or of a case
  std::size_t remember_;
  std::size_t steps_ = 0;
  // All variables that the graph has not forgotten; nodes of forgotten ones are reused.
  std::unordered_map<std::uint32_t, Known> known_;
  std::vector<decltype(known_)::node_type> unused_;
  const growing_graph::Lookup lookup_ = [this](std::uint32_t v) -> const Known& { return known_.find(v)->second; };
  Ids elders_;  // variables before oldest_ that are not forgotten
  std::uint32_t oldest_ = 0, next_variable_ = 0, next_factor_ = 0;
  Ids factors_;                                                      // the window's, then from settled_ on new ones
  std::vector<std::size_t> came_;                                    // parallel: number of updates before it was added
  std::vector<std::unique_ptr<const growing_graph::Table>> tables_;  // parallel: null if it is part of the Gaussian
  std::size_t settled_ = 0;
  // By case of the discrete variables that it is linked to, the last innermost; all over the same variables.
  std::vector<Boundary> boundaries_ = std::vector<Boundary>(1);
  Ids linked_;
  bool is_merged_ = false;                    // several Gaussians are now one
  std::vector<std::unique_ptr<Part>> parts_;  // the latest first
  Selection window_, leaving_, case_;
  Ids choosers_;  // the discrete variables of the window
  // A solved case of the window: its log weight, and beliefs by variable of the window.
  struct Found {
    double log_weight;
    std::vector<std::vector<Natural>> beliefs;
  };
  std::vector<Found> found_;
  // Buffers: by variable of the selection that is being solved; by variable of the window.
  std::vector<Known*> solved_, members_;
  std::vector<std::uint8_t> is_leaving_, is_joined_;
  std::vector<std::size_t> last_use_;
  std::vector<std::uint8_t> goes_;  // by factor
  // Factors of the window, and variables of it that they compute.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> outputs_;
  Ids which_, case_which_, going_, case_factors_;
  // The discrete neighbours of what leaves, those that leave first; and the other ones, which stay.
  Ids ending_, kept_ids_;
  Boundary next_boundary_;
  std::vector<VariableId> kept_;
  Graph::Factor factor_;
};

struct GrowingCases {
  using Window = GrowingGraph::Window;
  void (Window::*check)(const Graph::Factor& factor) const;
  void (Window::*begin)();
  Report (Window::*solve)();
  bool (Window::*merge)();
  void (Window::*qualify)(Report& report) const;
};

}  // namespace dma
