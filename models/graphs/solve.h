// The front door: solve() chooses how a graph is solved, says which way and why, and holds what was found.
//
//   const Answer answer = solve(g, {{y, {1.5, 0.7}}});
//   fmt::print("{}\n{}\n", answer, answer[weight]);
//   solve(g, {{y, {1.5, 0.7}}}, joint());                        // by a way of one's own choice
//
// A graph that runs a million times is compiled once and keeps a State (engine/compile/compile.h).
#pragma once

#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/compile/compile.h"
#include "engine/exact/exact.h"
#include "engine/joint/joint.h"
#include "engine/run/evidence.h"
#include "engine/run/run.h"

namespace dma {

// The ways to solve a graph.
using Solve = std::variant<Scheduler, Joint, Exact, TreeReweighted>;

// The values of an observed variable; one that is missing is std::nullopt. They are copied.
struct Given {
  VariableId variable;
  std::vector<std::optional<double>> values;

  Given(VariableId v, double value) : variable(v), values{value} {}  // NOLINT: {y, 1.5}
  Given(VariableId v, std::initializer_list<std::optional<double>> list) : variable(v), values(list) {}
  Given(VariableId v, const std::vector<double>& list) : variable(v), values(list.begin(), list.end()) {}
  Given(VariableId v, std::vector<std::optional<double>> list) : variable(v), values(std::move(list)) {}
};
using GivenValues = std::vector<Given>;

struct SolveOptions {
  // Every variable is to be seen: nothing is fused.
  CompileOptions compile = {.fuse = false};
  // Options of joint() and exact(). joint() solves a graph with hypers.
  JointOptions joint = {};
  ExactOptions exact = {};
  const Registry* registry = nullptr;  // none: the built-in kinds
};

// One list of the ways, for the command line, Python and documents.
struct NamedSolver {
  std::string_view name, summary;
  Solve (*make)(const SolveOptions& options);
};
std::span<const NamedSolver> named_solvers();  // all of them
std::vector<std::string> solver_names();       // "auto", then those of the list
// An unknown name is an Error that offers the nearest one.
Solve solver_named(std::string_view name, const SolveOptions& options = {});

struct Answer {
  Plan plan;
  State state;
  Report report;
  std::string solver;              // "joint"
  std::string why;                 // "one sweep would be approximate, and all that is unknown is Gaussian"
  std::string why_not_exact = {};  // a discrete graph is swept because its cliques are too wide

  Belief operator[](VariableId variable) const { return state.belief(variable); }
  Evidence evidence() const { return dma::evidence(plan, state); }  // log p(observed), part by part
  std::string text() const;  // the solver with its reason, and the line of the report
};

// The best way there is: one sweep where that is exact, cliques where everything is discrete and they are small enough,
// all at once where everything is Gaussian, repeated sweeps where neither is.
Answer solve(const Graph& graph, const GivenValues& values = {}, const SolveOptions& options = {});
// This way.
Answer solve(const Graph& graph, const GivenValues& values, const Solve& way, const SolveOptions& options = {});

// Tells a State more than values before it is run.
using TellState = std::function<void(State&)>;
// Solves by the solver that is chosen or given.
Answer solve_told(const Graph& graph, const TellState& tell, const SolveOptions& options);
Answer solve_told(const Graph& graph, const TellState& tell, const Solve& way, const SolveOptions& options);

}  // namespace dma

template <>
struct fmt::formatter<dma::Answer> : dma::TextFormatter {
  auto format(const dma::Answer& answer, format_context& context) const { return write(answer.text(), context); }
};
