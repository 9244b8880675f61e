#include "models/graphs/model.h"

#include <algorithm>
#include <cmath>

#include "engine/kinds/kind.h"
#include "engine/support/text.h"
#include "factors/authoring/from_function.h"
#include "factors/standard_registry.h"
#include "models/graphs/function_kinds.h"

namespace dma {

namespace {

ParameterValue variance_of(const Normal& normal, std::string_view who) {
  if (normal.sd.has_value() == normal.variance.has_value())
    fail("{}: {} given; say one of them: {{.sd = 0.2}} or {{.variance = 0.04}}", who,
         normal.sd ? "sd and variance are" : "neither sd nor variance is");
  if (normal.variance) return *normal.variance;
  std::vector<double> squares;
  for (const double sd : normal.sd->numbers) {
    if (!(sd > 0)) fail("{}: sd is {}; it must be positive", who, sd);
    squares.push_back(sd * sd);
  }
  return squares;
}

// The family that variables at the last port of a kind have, as Graph names it.
std::string family_at_last_port(const Kind& kind) {
  const std::string family = kind.ports().back().family.value_or(std::string(kGaussian));
  return family == kGaussian ? "" : family;
}

}  // namespace

Kind ratio_kind() {
  return factor_from_function("ratio", [](double x, double y) { return x / y; });
}
Kind reciprocal_kind() {
  return factor_from_function("reciprocal", [](double x) { return 1 / x; });
}
Kind logarithm_kind() {
  return factor_from_function("logarithm", [](double x) { return std::log(x); });
}

Expression Expression::operator[](std::vector<std::uint32_t> elements) const {
  for (std::uint32_t& e : elements) {
    if (e >= size()) fail("'{}': element {} is chosen of {}", model_->graph_[variable_].name, e, size());
    if (elements_) e = (*elements_)[e];
  }
  Expression chosen = *this;
  chosen.elements_ = std::move(elements);
  return chosen;
}

Expression::operator VariableId() const {
  if (elements_)
    fail("some elements of '{0}' are no variable; ask for '{0}' itself and choose from what is known of it",
         model_->graph_[variable_].name);
  return variable_;
}

Connection Expression::connection(std::size_t slots) const {
  if (size() != slots && size() != 1)
    fail("'{}': {} elements meet {}; arrays of equal size are combined, or one of a single element",
         model_->graph_[variable_].name, size(), slots);
  if (elements_) return gather(variable_, size() == slots ? *elements_ : std::vector(slots, elements_->front()));
  return size() == slots ? Connection(variable_) : all_to_one(variable_);
}

Expression operator+(const Expression& a, const Expression& b) { return a.model_->apply("add", {a, b}); }
Expression operator-(const Expression& a, const Expression& b) { return a + affine(b, -1, 0); }
Expression operator*(const Expression& a, const Expression& b) {
  if (a.model_ == b.model_ && a.variable_ == b.variable_ && a.elements_ == b.elements_)
    return a.model_->apply("square", {a});
  return a.model_->apply("product", {a, b});
}
Expression operator/(const Expression& a, const Expression& b) { return a.model_->apply(ratio_kind(), {a, b}); }
Expression operator/(double a, const Expression& x) {
  const Expression inverse = x.model_->apply(reciprocal_kind(), {x});
  return a == 1 ? inverse : affine(inverse, a, 0);
}
Expression affine(const Expression& x, double a, double b) {
  return x.model_->apply("affine", {x}, {{"a", a}, {"b", b}});
}
Expression pow(const Expression& x, int exponent) {
  if (exponent < 1) fail("pow: the exponent is {}; a whole number from 1 on is expected", exponent);
  if (exponent == 1) return x;
  const Expression half = pow(x, exponent / 2), even = half * half;
  return exponent % 2 == 0 ? even : even * x;
}
Expression exp(const Expression& x) { return x.model_->apply("exponential", {x}); }
Expression log(const Expression& x) { return x.model_->apply(logarithm_kind(), {x}); }
Expression sum(const Expression& x) {
  Graph& g = x.model_->graph_;
  const VariableId total = g.variable("", 1, g[x.variable_].family);
  g.factor("sum", {x.connection(x.size()), total});
  return {*x.model_, total};
}

Likelihood noise(const Normal& normal) {
  for (const double mean : normal.mean.numbers)
    if (mean != 0) fail("noise: the mean is {}; add it to the expression, noise has the mean 0", mean);
  return {"gaussian_noise", {{"variance", variance_of(normal, "noise")}}};
}

Likelihood likelihood(std::string kind, ParameterList parameters) { return {std::move(kind), std::move(parameters)}; }

Model::Model() : Model(standard_registry()) {}
Model::Model(const Registry& registry) : registry_(registry) {}

Expression Model::gaussian(std::string_view name, std::size_t size, const Normal& prior) {
  const VariableId x = graph_.variable(name, size);
  graph_.factor("gaussian_prior", {x}, {{"mean", prior.mean}, {"variance", variance_of(prior, name)}});
  return {*this, x};
}

Expression Model::prior(std::string_view kind, std::string_view name, std::size_t size, ParameterList parameters,
                        std::string_view family) {
  const std::string own = family_at_last_port(registry_.kind(kind));
  const VariableId x = graph_.variable(name, size, family.empty() ? own : family);
  graph_.factor(kind, {x}, std::move(parameters));
  return {*this, x};
}

Expression Model::apply(std::string_view kind, std::initializer_list<Expression> inputs, ParameterList parameters) {
  std::size_t slots = 1;
  for (const Expression& input : inputs) slots = std::max(slots, input.size());
  std::vector<Connection> ends;
  for (const Expression& input : inputs) {
    if (input.model_ != this)
      fail("'{}' is of another model; expressions join arrays of one", input.model_->graph_[input.variable_].name);
    ends.push_back(input.connection(slots));
  }
  const std::string own = family_at_last_port(registry_.kind(kind));
  const bool takes_any = !registry_.kind(kind).ports().back().family;
  const VariableId out =
      graph_.variable("", slots, takes_any ? graph_[inputs.begin()->variable_].family : std::string_view(own));
  ends.emplace_back(out);
  graph_.factor(kind, std::move(ends), std::move(parameters));
  return {*this, out};
}

Expression Model::apply(const Kind& kind, std::initializer_list<Expression> inputs, ParameterList parameters) {
  if (!registry_.kinds().contains(kind.name())) registry_.add(kind);
  return apply(kind.name(), inputs, std::move(parameters));
}

void Model::observe(const Expression& expression, std::vector<double> values, const Likelihood& likelihood) {
  if (values.size() != expression.size())
    fail("observe: {} values are given for {} elements", values.size(), expression.size());
  const VariableId seen = graph_.observed("", values.size(), family_at_last_port(registry_.kind(likelihood.kind)));
  graph_.factor(likelihood.kind, {expression.connection(values.size()), seen}, likelihood.parameters);
  values_.emplace_back(seen, std::move(values));
}

Answer solve(const Model& model, SolveOptions options) {
  if (options.registry == nullptr) options.registry = &model.registry();
  return solve(model.graph(), model.values(), options);
}

Answer solve(const Model& model, const Solve& way, SolveOptions options) {
  if (options.registry == nullptr) options.registry = &model.registry();
  return solve(model.graph(), model.values(), way, options);
}

}  // namespace dma
