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

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/graph/graph.h"
#include "engine/kinds/registry.h"
#include "models/graphs/solve.h"

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
