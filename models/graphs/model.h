// A thin layer on Graph: variables with priors, expressions of them, and what is observed. Everything becomes plain
// variables and factors of graph(), which can be printed, compiled and kept.
//
//   Model m;
//   auto weight = m.gaussian("weight", 3, {.mean = 4, .sd = 3});
//   auto offset = m.gaussian("offset", 2, {.sd = 0.5});
//   m.observe(weight[{0, 1, 2}] + offset[{0, 0, 1}], {2.1, 3.0, 8.9}, noise({.sd = 0.2}));
//   m.observe(exp(weight[{0}]), {3.0}, likelihood("poisson"));
//   const Answer answer = solve(m);
//   answer[weight];
//
// Arrays of equal size are combined element by element, one of a single element with each of the other's.
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
#include "engine/graph/graph.h"
#include "engine/joint/joint.h"
#include "engine/kinds/registry.h"
#include "engine/run/run.h"

namespace dma {

// The front door: solve() chooses how a graph is solved, says which way and why, and holds what was found.
//
//   const Answer answer = solve(g, {{y, {1.5, 0.7}}});
//   fmt::print("{}\n{}\n", answer, answer[weight]);
//   solve(g, {{y, {1.5, 0.7}}}, joint());                        // by a way of one's own choice
//
// A graph that runs a million times is compiled once and keeps a State (engine/compile/compile.h).

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

namespace dma {

class Model;

// An array of a model: a variable, or chosen elements of one. Belongs to the model that made it.
class Expression {
 public:
  Expression operator[](std::vector<std::uint32_t> elements) const;  // in this order, as often as they are named
  operator VariableId() const;  // NOLINT: answer[weight]; an Error for chosen elements
  std::size_t size() const { return elements_ ? elements_->size() : whole_size(); }

 private:
  friend class Model;
  Expression(Model& model, VariableId variable) : model_(&model), variable_(variable) {}
  std::size_t whole_size() const;
  Connection connection(std::size_t slots) const;
  friend Expression operator+(const Expression& a, const Expression& b);
  friend Expression operator-(const Expression& a, const Expression& b);
  friend Expression operator*(const Expression& a, const Expression& b);
  friend Expression operator/(const Expression& a, const Expression& b);
  friend Expression operator/(double a, const Expression& x);
  friend Expression affine(const Expression& x, double a, double b);
  friend Expression pow(const Expression& x, int exponent);
  friend Expression exp(const Expression& x);
  friend Expression log(const Expression& x);
  friend Expression sum(const Expression& x);

  Model* model_;
  VariableId variable_;
  std::optional<std::vector<std::uint32_t>> elements_ = {};  // none: all
};

Expression affine(const Expression& x, double a, double b);  // a x + b
Expression pow(const Expression& x, int exponent);           // 1 or more
Expression exp(const Expression& x);                         // element by element
Expression log(const Expression& x);                         // x above 0
Expression sum(const Expression& x);                         // adds all elements
inline Expression operator+(const Expression& x, double b) { return affine(x, 1, b); }
inline Expression operator+(double b, const Expression& x) { return affine(x, 1, b); }
inline Expression operator-(const Expression& x, double b) { return affine(x, 1, -b); }
inline Expression operator-(double b, const Expression& x) { return affine(x, -1, b); }
inline Expression operator-(const Expression& x) { return affine(x, -1, 0); }
inline Expression operator*(const Expression& x, double a) { return affine(x, a, 0); }
inline Expression operator*(double a, const Expression& x) { return affine(x, a, 0); }
inline Expression operator/(const Expression& x, double a) { return affine(x, 1 / a, 0); }

// The width is said by name: one of sd and variance.
struct Normal {
  ParameterValue mean = 0.0;
  std::optional<ParameterValue> sd = {}, variance = {};
};

struct Likelihood {
  std::string kind;
  ParameterList parameters = {};
};
Likelihood noise(const Normal& normal);  // N(expression, sd^2); a mean is added
// Any kind of the registry whose last port is what is observed: "poisson", "student_t_noise", "logistic".
Likelihood likelihood(std::string kind, ParameterList parameters = {});

class Model {
 public:
  explicit Model(const Registry& registry);
  Model();                       // knows the built-in kinds
  Model(const Model&) = delete;  // expressions point to it
  Model& operator=(const Model&) = delete;

  Expression gaussian(std::string_view name, std::size_t size = 1, const Normal& prior = {.sd = 1});  // unknowns
  // A variable with any prior: prior("gamma_prior", "rate", 3, {{"shape", 2.0}, {"rate", 1.0}}). The family is that of
  // the prior unless it is said: "categorical(3)".
  Expression prior(std::string_view kind, std::string_view name, std::size_t size = 1, ParameterList parameters = {},
                   std::string_view family = {});
  // A function by the name of its kind, or one of one's own: apply(factor_from_function("tanh", ...), {x}).
  Expression apply(std::string_view kind, std::initializer_list<Expression> inputs, ParameterList parameters = {});
  Expression apply(const Kind& kind, std::initializer_list<Expression> inputs, ParameterList parameters = {});
  void observe(const Expression& expression, std::vector<double> values, const Likelihood& likelihood);  // data

  const Graph& graph() const { return graph_; }           // the graph that was written
  const GivenValues& values() const { return values_; }   // observed values
  const Registry& registry() const { return registry_; }  // kinds that it may use

 private:
  friend class Expression;
  friend Expression sum(const Expression& x);
  Graph graph_;
  GivenValues values_;
  Registry registry_;
};

inline std::size_t Expression::whole_size() const { return model_->graph()[variable_].size; }

Answer solve(const Model& model, SolveOptions options = {});                    // chooses the solver
Answer solve(const Model& model, const Solve& way, SolveOptions options = {});  // by this solver

}  // namespace dma
