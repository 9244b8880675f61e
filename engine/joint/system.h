// A plan as one Gaussian system: the role of each element and the columns of each row.
//
//   known    observed, or a function of known elements
//   root     an unknown of the information matrix; an observed element that is missing, unless one factor predicts it
//   derived  the output of a deterministic factor: eliminated by substitution
//
// With full substitution a series x = a x' + b e has its noise e as roots, and the last x depends on all of them. Deep
// chains of such factors are solved for the noise instead: x is the root, e = (x - a x') / b is derived, and the prior
// of e is a row over neighbours.
//
// A row is a Gaussian density, the cavity of a shared variable, or the EP site of one element. Its numbers over the
// roots are found by one reverse sweep of gains from its arguments through the derived elements it depends on.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/compile/compile.h"
#include "engine/compile/plan_data.h"
#include "engine/joint/elimination.h"
#include "engine/kinds/kind.h"

namespace dma::joint_system {

enum class Role : std::uint8_t { known, root, derived };

// Slots of a deterministic group that do not depend on each other: one call of the linear view.
struct Batch {
  std::uint32_t group = 0;
  std::uint32_t slots = 0, inputs = 0, outputs = 0;
  std::uint32_t views = 1;               // outputs with values of their own
  std::vector<std::uint32_t> slot;       // in the group, ascending; empty: all slots
  std::vector<std::uint32_t> arguments;  // elements, by input and slot
  std::vector<std::uint32_t> results;    // elements, by output and slot
  std::uint64_t gains = 0;               // index of the first input's gains
  // Inputs from this index on are an unknown point on a manifold, whose gains are converted to its steps.
  struct Point {
    std::uint32_t input, slot, element;
    const Chart* chart;
  };
  std::vector<Point> points;
  // Solved for this input: it and the output are swapped in the two lists, and gains are those of the solution.
  std::uint32_t solved_for = kNowhere;
};

// The slots of a Gaussian group: consecutive rows.
struct RowPlate {
  std::uint32_t group = 0;
  std::uint32_t slots = 0, count = 0;    // arguments per slot
  std::vector<std::uint32_t> arguments;  // elements, by argument and slot
  std::uint32_t first_row = 0;
  std::uint64_t coefficients = 0;  // index of the first argument's coefficients
  bool has_known = false;          // some argument is known
};

// The slots of a group without linear view: messages of EP sites, one row for each that reaches an unknown element.
struct SitePlate {
  struct Port {
    std::uint32_t terms = 1;
    std::vector<std::uint32_t> elements;       // by slot and term
    std::vector<std::uint32_t> rows;           // likewise; kNowhere for a known element
    std::uint64_t first = 0;                   // index of its first message among those of all sites
    const MessageFunction* message = nullptr;  // null: all its elements are known
  };
  std::uint32_t group = 0;
  std::uint32_t slots = 0;
  std::vector<Port> ports;
};

struct System {
  // `inferred`, by element: observed elements that are unknowns because their value is missing; empty: none.
  // `may_solve`: functions may be solved for their noise.
  System(const PlanData& plan, const EliminationLimits& limits, std::vector<std::uint8_t> inferred = {},
         bool may_solve = true);

  // Direct dependencies of an unknown element: free inputs with the positions of their gains.
  struct Edge {
    std::uint32_t element, gain;
  };
  std::span<const Edge> edges_of(std::uint32_t element) const {
    return {edges.data() + first_edge[element], edges.data() + first_edge[element + 1]};
  }
  // Derived elements that `seeds` depend on, those farther from the roots first. `mark` has one entry per element;
  // `stamp` must be new, and entries are not cleared.
  void ancestors(std::span<const std::uint32_t> seeds, std::vector<std::uint32_t>& mark, std::uint32_t stamp,
                 std::vector<std::uint32_t>& derived, std::vector<std::uint32_t>& roots) const;

  std::vector<std::uint8_t> inferred;     // by element, as passed to the constructor
  std::vector<Role> role;                 // by element
  std::vector<std::uint32_t> level;       // by element: 0 for roots, otherwise the longest path of factors from a root
  std::vector<std::uint32_t> unknown_of;  // by element; kNowhere if it is no root
  std::vector<std::uint32_t> element_of;  // by unknown
  std::vector<Batch> batches;             // in the order of evaluation
  // Unknown points on manifolds: their unknowns are steps from the origins in Numbers.
  struct Point {
    std::uint32_t element, unknown;
    const Chart* chart;
  };
  std::vector<Point> points;
  std::vector<RowPlate> plates;
  std::vector<SitePlate> sites;
  std::vector<std::uint32_t> site_elements;  // by row - first_site_row
  std::vector<std::uint32_t> cavity_slots;   // by row - first_cavity_row: slot of the message in a State
  std::vector<std::uint32_t> cavity_elements;
  std::uint32_t first_cavity_row = 0, first_site_row = 0, rows = 0;
  std::uint64_t gain_count = 0, coefficient_count = 1, site_messages = 0;

  // Rows as sums over elements: one coefficient (position 0 holds 1) per unknown argument.
  struct Seed {
    std::uint32_t element, coefficient;
  };
  std::vector<std::uint32_t> first_seed, first_program;  // by row, and one more
  std::vector<Seed> seeds;
  std::vector<std::uint32_t> programs;  // derived elements, those farther from the roots first
  std::vector<std::uint32_t>
      sources;  // parallel to pattern.columns: the coefficient of a row without program, or kNowhere
  RowPattern pattern;
  Elimination elimination;
  std::vector<std::uint32_t> factors_at;     // by element: number of its densities and sites, counted up to 2
  std::vector<std::uint8_t> feeds_function;  // by element: input of a deterministic factor
  std::vector<std::uint8_t> is_computed;     // by element: output of a deterministic factor
  bool has_constant_gains = true, is_solved_for_noise = false;

  // True if one solve is exact.
  bool is_linear() const { return has_constant_gains && site_elements.empty(); }

 private:
  void assign_roles(const PlanData& plan);
  void form_batches(const PlanData& plan, bool may_solve);
  void find_points(const PlanData& plan);
  void form_rows(const PlanData& plan);
  void trace_rows(const EliminationLimits& limits);

  std::vector<std::uint32_t> first_edge;
  std::vector<Edge> edges;
};

}  // namespace dma::joint_system
